"""Eight methods of training in Python. Each gives the results of the one of that name, in every bit.

    import paceline
    from published import decentlam

    paceline.run({..., "algorithm": {"kind": decentlam, "mixing": {"kind": "ring"}}})

or, on the command line, with "kind": "published.py:decentlam" in a scenario: python3 -m paceline run scenario.json.

docs/how-to/your-own-method.md explains them; tests/python/methods_test.py compares them.
"""

import numpy

import paceline


@paceline.algorithm(when_nodes_die="renormalizes")
async def dsgd(self):
    """Decentralized SGD: each worker takes a step, then averages with its neighbors."""
    x = self.model()
    while self.begins_step():
        gamma = self.learning_rate()
        g = await self.gradient(x)
        x[:] = await self.neighbor_average(x - gamma * g)
        await self.update()


@paceline.algorithm(when_nodes_die="renormalizes")
async def dmsgd(self, *, beta=0.9):
    """The same with momentum on the local gradient."""
    x, m = self.model(), 0.0
    while self.begins_step():
        gamma = self.learning_rate()
        m = beta * m + await self.gradient(x)
        x[:] = await self.neighbor_average(x - gamma * m)
        await self.update()


@paceline.algorithm(when_nodes_die="renormalizes")
async def decentlam(self, *, beta=0.9):
    """DecentLaM (Yuan et al., ICCV 2021): momentum that adds no bias."""
    x, m = self.model(), 0.0
    while self.begins_step():
        gamma = self.learning_rate()
        g = await self.gradient(x)
        mixed = await self.neighbor_average(x - gamma * g)
        m = beta * m + (x - mixed) * (1 / gamma)
        x -= gamma * m
        await self.update()


@paceline.algorithm
async def dgc(self, *, beta=0.9):
    """Deep Gradient Compression (Lin et al., ICLR 2018), with "codec": {"kind": "dgc"}.

    The codec holds velocities and what was not sent; entries that it sends have their momentum. Biases are sent whole,
    and get theirs here.
    """
    x = self.model()
    exchange = self.exchange()
    m = numpy.zeros_like(x)
    while self.begins_step():
        mean = await exchange.mean_gradient(x)
        gamma = self.learning_rate()
        for tensor in self.tensors():
            own, g = tensor.of(x), tensor.of(mean)
            if tensor.compressible:
                own -= gamma * g
            else:
                velocity = tensor.of(m)
                velocity[:] = beta * velocity + g
                own -= gamma * velocity
        await self.update()


@paceline.algorithm(when_nodes_die="reruns-models", decays_by_itself=True)
async def diloco(self, *, period=500, outer_rate=0.7, outer_momentum=0.9, beta1=0.9, beta2=0.999, epsilon=1e-8, decay=0.0):
    """DiLoCo (Douillard et al., 2023): AdamW alone, and an outer Nesterov step on what blocks of steps have moved."""
    x, m, v, k = self.model(), 0.0, 0.0, 0
    anchor, u = self.shared("anchor", x), self.shared("outer momentum")
    while self.begins_step():
        gamma = self.learning_rate()
        g = await self.gradient(x)
        k += 1
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * (g * g)
        m_hat = m * (1 / (1 - paceline.power(beta1, k)))
        v_hat = v * (1 / (1 - paceline.power(beta2, k)))
        x -= gamma * (m_hat / (numpy.sqrt(v_hat) + epsilon) + decay * x)
        await self.update()
        if (self.step + 1) % period == 0:
            moved = await self.all_reduce(anchor.value - x)
            if self.updates(self.step // period):  # the first that comes makes the step for all
                u.value = outer_momentum * u.value + moved
                anchor.value = anchor.value - outer_rate * (moved + outer_momentum * u.value)
            x[:] = anchor.value


@paceline.algorithm(when_nodes_die="skips", runs_freely=True, decays_by_itself=True)
async def swarm(self, *, local_steps=1, beta=0.9):
    """SwarmSGD (Nadiradze et al., NeurIPS 2021), non-blocking: after some steps, average with a random neighbor.

    Copies travel. Who is asked answers with its own copy, and both move by half of the difference.
    """
    question, answer = 0, 1
    x, m = self.model(), 0.0
    copy = x.copy()
    neighbors, draws = self.neighbors(), self.stream("swarm partner")
    asked = sent = life = None  # whom this worker waits for, the copy that it has sent, and to which life
    averagings = 0
    outbox = self.channel()

    async def post():
        while True:
            to, vector, number = await outbox.get()
            await self.post(to, vector, number=number)

    async def read():
        nonlocal asked, averagings
        while True:
            letter = await self.next_letter()
            if letter.number == answer and letter.sender != asked:
                continue
            averagings += 1
            if letter.sender == asked:
                asked = None
                x[:] += 0.5 * (letter.vector - sent)
                copy[:] = x
            else:
                outbox.put((letter.sender, copy.copy(), answer))
                shift = 0.5 * (letter.vector - copy)
                x[:] += shift
                copy[:] += shift

    self.serve(read())
    self.serve(post())
    left = local_steps
    while self.begins_step():
        if left == 0:
            if asked is not None and self.is_known_dead(asked, life):
                asked = None
            if asked is None and neighbors:
                partner = neighbors[draws.integer(0, len(neighbors) - 1)]
                if self.present(partner):
                    asked, life, sent = partner, self.life(partner), copy.copy()
                    outbox.put((asked, sent, question))
            left = local_steps
        gamma, at, before = self.learning_rate(), x.copy(), averagings
        g = await self.gradient(at)
        self.count_staleness(averagings - before)
        m = beta * m + g
        x += (at - gamma * m) - at
        await self.update()
        left -= 1


@paceline.algorithm(when_nodes_die="server-goes-on", runs_freely=True)
async def ps_async(self, *, beta=0.9):
    """Asynchronous SGD with a parameter server (Dean et al., NIPS 2012): push a step, wait for the model, go on."""
    x, version, m = self.shared_model().value, self.updates_done(), 0.0
    while self.begins_step():
        gamma = self.learning_rate() / self.workers
        m = beta * m + await self.gradient(x)
        await self.post(self.servers[0], gamma * m, number=version)
        answer = await self.next_letter()
        x, version = answer.vector, answer.number
        await self.update()


@ps_async.server
async def serve(self):
    """Applies each push as it comes, and answers with the model."""
    model = self.shared_model()
    while True:
        push = await self.next_letter()
        applied = self.updates_done()
        self.count_staleness(applied - push.number)
        if self.updates(applied):
            model.value = model.value - push.vector
        if self.life(push.sender) == push.life:  # it has not died since
            await self.post(push.sender, model.value, number=self.updates_done())


@paceline.algorithm(when_nodes_die="reruns-replicas")
async def overlapped(self, *, beta=0.9):
    """Synchronous SGD whose pieces are averaged, one after another, while backward computes the next ones.

    The scenario's "schedule" says what the pieces are: {"pieces": "tensors", "begin": "beside-backward"}.
    """
    model, m = self.shared_model(), self.shared("momentum")
    mean, complete = self.model().copy(), self.channel()

    async def average(pieces):
        for _ in pieces:
            piece, g = await complete.get()
            piece.of(mean)[:] = await self.all_reduce(g, weight=piece.weight)

    while self.begins_step():
        backward = self.backward(model.value)
        averaged = self.start(average(backward.pieces))
        for piece in backward.pieces:
            complete.put((piece, await backward.complete(piece)))
        await averaged
        if self.updates(self.step):
            m.value = beta * m.value + mean
            model.value = model.value - self.learning_rate() * m.value
        await self.update()
