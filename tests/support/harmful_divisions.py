"""Divisions of a function that would change what it does, perhaps unseen by the run that proves them."""

import pytest

HARMFUL_DIVISIONS = [
    pytest.param(
        "compiled around it",
        None,
        """
        @torch.compile
        def f(x):
            y = x.sin()
            def g(a):
                return a * 2
            log(y)  # here
            return g(y)
        """,
        id="nested def ends early",
    ),
    pytest.param(
        "compiled around it",
        None,
        """
        @torch.compile
        def f(x):
            y = x.sin()
            log(y)  # here
            return y * 2
            y = y + 1
        """,
        id="dead code",
    ),
    pytest.param(
        "compiled around it",
        None,
        """
        @torch.compile
        def f(x):
            y = x.sin()
            g = lambda: y
            log(y)  # here
            y = y * 2
            return g() + y
        """,
        id="lambda late binding",
    ),
    pytest.param(
        "compiled around it",
        None,
        """
        @torch.compile
        def f(x):
            a = x
            try:
                a = x + 1
                b = check(a)
                log(b)  # here
            except ValueError:
                return a
            return b * a
        """,
        id="try partial",
    ),
    pytest.param(
        "compiled around it",
        None,
        """
        @torch.compile
        def f(xs):
            a = any((m := t).sum() > 0 for t in xs)
            log(a)  # here
            return m * 2
        """,
        id="walrus in comp",
    ),
    pytest.param(
        "compiled around it",
        None,
        """
        class N:
            @torch.compile
            def f(self, x):
                y = self.__w * x
                log(y)  # here
                return y * 2
        """,
        id="private",
    ),
    pytest.param(
        "compiled around it",
        None,
        """
        class O:
            class N:
                @torch.compile
                def f(self, x):
                    y = self.w * x
                    log(y)  # here
                    return y * 2
        """,
        id="class in class",
    ),
    pytest.param(
        "compiled around it",
        None,
        """
        def f(x):
            y = x * 2
            log(y)  # here
            return y * 2
        f = g = torch.compile(f)
        """,
        id="two targets",
    ),
    pytest.param(
        "compiled around it",
        None,
        """
        def f(x):
            y = x * 2
            log(y)  # here
            return y * 2
        a = 1; f = torch.compile(f)
        """,
        id="semicolon",
    ),
    pytest.param(
        "compiled around it",
        None,
        """
        class N(M):
            def forward(self, x):
                y = x * 2
                log(y)  # here
                return y * 2
        net = N()
        if args.compile:
            net = torch.compile(net)
        net(1)
        """,
        id="only if asked",
    ),
    pytest.param(
        "compiled around it",
        None,
        """
        class N(M):
            def forward(self, x):
                y = x * 2
                log(y)  # here
                return y * 2
        net = N()
        net = torch.compile(net)
        torch.save(net.state_dict(), "a")
        """,
        id="state dict",
    ),
    pytest.param(
        "decided outside",
        "kind",
        """
        @torch.compile
        def f(x, kind):
            return x + (table[kind] if x.ndim > 1 else 0)  # here
        """,
        id="conditional",
    ),
    pytest.param(
        "decided outside",
        "kind",
        """
        @torch.compile
        def f(xs, kind):
            return sum([w[kind] * 2 for w in xs])  # here
        """,
        id="comp",
    ),
    pytest.param(
        "decided outside",
        "kind",
        """
        @torch.compile
        def f(x, kind):
            kind_chosen = x.sin()
            y = x + table[kind]  # here
            return y * kind_chosen
        """,
        id="collision",
    ),
    pytest.param(
        "decided outside",
        "kind",
        """
        @torch.compile
        def f(x, kind):
            return noise(x) + draw(kind)  # here
        """,
        id="order",
    ),
    pytest.param(
        "made first",
        "x = x.contiguous()",
        """
        @torch.compile
        def f(x):
            x.add_(1)
            return x * 2  # here
        """,
        id="mutates",
    ),
    pytest.param(
        "made first",
        "x = x.contiguous()",
        """
        @torch.compile
        def f(x):
            y = x.view(-1)
            y[0] = 3
            return x * 2  # here
        """,
        id="mutates alias",
    ),
    pytest.param(
        "made first",
        "s = torch.tensor(s)",
        """
        @torch.compile
        def f(x):
            return x * s  # here
        """,
        id="no param",
    ),
    pytest.param(
        "made first",
        "m = m.contiguous()",
        """
        @torch.compile
        def f(x, m=None):
            if m is not None:
                x = x * m  # here
            return x * 2
        """,
        id="default None",
    ),
]
