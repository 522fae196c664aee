// An intrusive doubly linked list. Linking allocates nothing, and a destroyed element removes
// itself from its list.
//
// T derives from ListHook<Tag>. An element is in at most one list per tag.
#pragma once

namespace paceline {

template <class Tag>
class ListHook {
  public:
    ListHook() = default;
    ListHook(const ListHook&) = delete;
    ListHook& operator=(const ListHook&) = delete;
    ~ListHook() { unlink(); }

    [[nodiscard]] bool linked() const { return next_ != nullptr; }

    void unlink() {
        if (next_ == nullptr) return;
        prev_->next_ = next_;
        next_->prev_ = prev_;
        prev_ = next_ = nullptr;
    }

  private:
    template <class, class>
    friend class IntrusiveList;

    ListHook* prev_ = nullptr;
    ListHook* next_ = nullptr;
};

template <class T, class Tag>
class IntrusiveList {
  public:
    IntrusiveList() { end_.prev_ = end_.next_ = &end_; }
    IntrusiveList(const IntrusiveList&) = delete;
    IntrusiveList& operator=(const IntrusiveList&) = delete;
    /// Unlinks the remaining elements; does not destroy them.
    ~IntrusiveList() {
        while (!empty()) static_cast<ListHook<Tag>&>(front()).unlink();
    }

    [[nodiscard]] bool empty() const { return end_.next_ == &end_; }

    /// Appends an element. Requires that it is in no list with this tag.
    void push_back(T& element) {
        ListHook<Tag>& hook = element;
        hook.prev_ = end_.prev_;
        hook.next_ = &end_;
        end_.prev_->next_ = &hook;
        end_.prev_ = &hook;
    }

    /// Requires !empty().
    [[nodiscard]] T& front() { return static_cast<T&>(*end_.next_); }

    T& pop_front() {
        T& element = front();
        static_cast<ListHook<Tag>&>(element).unlink();
        return element;
    }

    template <class Visit>
    void for_each(Visit visit) const {
        for (const ListHook<Tag>* hook = end_.next_; hook != &end_; hook = hook->next_)
            visit(static_cast<const T&>(*hook));
    }

  private:
    ListHook<Tag> end_;
};

}  // namespace paceline
