"""Texts without what is the user's: what stays, what goes, and that the same is called the same."""

import pytest

from dynamo_core.bundle.placeholders import Placeholders
from dynamo_core.bundle.texts import Texts


@pytest.fixture
def texts() -> Texts:
    return Texts(Placeholders())


def test_a_line_of_source_keeps_its_form_only(texts: Texts) -> None:
    line = "    zircon = self.gneiss(x, 'a secret', 31.4159)  # of Herr Feldspat"
    assert texts.source(line) == "    name1 = self.name2(name3, 'text1', N)"
    assert texts.source("if x.sum() > 3:") == "if name3.sum() > N:"
    assert texts.source(
        "key = f'{x} of a string that goes on"
    ) == "name4 = 'text3'" or "string" not in texts.source("key = f'{x} of a string that goes on")


@pytest.mark.parametrize("line", ["@torch.compile", "torch._dynamo.graph_break()", "print()", "import torch"])
def test_no_line_stays_as_it_was_written(texts: Texts, line: str) -> None:
    assert texts.source(f"  {line}") == "  text1"


@pytest.mark.parametrize("line", ["else:", "try:", "", "    return", ")"])
def test_a_line_of_keywords_says_nothing(texts: Texts, line: str) -> None:
    assert texts.source(line) == line


def test_a_guard_keeps_what_it_checks(texts: Texts) -> None:
    guard = (
        "| +- TENSOR_MATCH: check_tensor(L['self']._modules['gneiss']._parameters['weight'], Parameter, "
        "DispatchKeySet(CPU), torch.float32, device=None, requires_grad=True, size=[8, 8], stride=[8, 1])"
        "  # y = self.gneiss(x)  # /home/mallory/train.py:12 in forward"
    )
    shown = texts.text(guard)
    assert "L['self']._modules['name1']._parameters['weight']" in shown
    assert "requires_grad=True, size=[8, 8], stride=[8, 1])" in shown
    assert shown.endswith("  # name2 = self.name1(name3)  # /folder1/folder2/file1.py:12 in forward")
    assert texts.text("l_self_modules_gneiss_parameters_weight_") == "l_self_modules_name1_parameters_weight_"


def test_a_graph_keeps_operators_and_shapes(texts: Texts) -> None:
    code = (
        "        # File: /home/mallory/train.py:7 in price, code: zircon = a.relu() * 0.3183\n"
        '        zircon: "f32[8, s77][s77, 1]cuda:0" = torch.ops.quarry.smelted(l_a_, 16777216)'
    )
    assert texts.text(code) == (
        "        # File: /folder1/folder2/file1.py:7 in name1, code: name2 = name3.relu() * N\n"
        '        name2: "f32[8, s77][s77, 1]cuda:0" = torch.ops.name4.name5(l_name3_, 1000001)'
    )


def test_a_fraction_goes_however_short_it_is_and_is_the_same_everywhere(texts: Texts) -> None:
    assert texts.text("l_x_ * 0.12345; 7.5 * 1.0") == "l_name1_ * 1000001.5; 1000002.5 * 1.0"
    assert (
        texts.text("l_x_ == 0.12345, at index 0. expected 16")
        == "l_name1_ == 1000001.5, at index 0. expected 16"
    )
    assert texts.text("Guard latency = 3.25 us") == "Guard latency = 3.25 us"  # measured, not the user's


@pytest.mark.parametrize(
    "text",
    [
        "torch 2.13.0",
        "torch 2.13.0+cpu, Python 3.11.7.",
        "PyTorch version 2.9.0+cu128",
        "CUDA 12.8",
        "torch>=2.8",
        "torch 2.15.0.dev20260101+git0123abc",
    ],
)
def test_versions_of_what_all_have_stay(text: str, texts: Texts) -> None:
    assert texts.text(text) == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("quarry 2.13.0", "2.13.0"),
        ("torch 10.20.30.40", "10.20"),
        ("torch 2.13.0-mallory", "mallory"),
        ("python 3.14159265", "3.14159"),
    ],
)
def test_other_numbers_with_dots_go(text: str, secret: str, texts: Texts) -> None:
    assert secret not in texts.text(text)


def test_what_the_standard_library_calls_so_stays(texts: Texts) -> None:
    assert texts.source("    time.sleep(0.25)") == "    time.sleep(N)"
    told = "module: time, qualname: sleep, skip reason"
    assert texts.text(told).startswith("module: time, qualname: sleep")


@pytest.mark.parametrize("file", ["train", "model", "forward", "time"])
def test_a_file_of_the_users_goes_whatever_word_it_is_called_by(file: str, texts: Texts) -> None:
    assert texts.argument(f"{file}.py") == "file1.py"
    assert texts.text(f"Graph break in user code at {file}.py:7") == "Graph break in user code at file1.py:7"
    assert texts.path(f"/home/mallory/{file}.py").endswith("/file1.py")
    shown = texts.text(f"module: data.{file}, qualname: f")
    assert shown.startswith("module: folder") and shown.split(",")[0].endswith(".file1")


def test_torchs_sentences_stay_and_what_stands_in_them_goes(texts: Texts) -> None:
    reason = (
        "Failed to trace builtin operator\n"
        "  Explanation: Dynamo does not know how to trace builtin operator `print` with argument types "
        "['Zircon'] (has_kwargs False)\n"
        "User code traceback:\n"
        '  File "/home/mallory/train.py", line 5, in price\n'
        "    print('for mallory only')\n"
    )
    shown = texts.text(reason)
    assert shown.startswith(
        "Failed to trace builtin operator\n  Explanation: Dynamo does not know how to trace"
    )
    assert "`print` with argument types ['name1'] (has_kwargs False)" in shown
    assert "File \"/folder1/folder2/file1.py\", line 5, in name2\n    print('text1')" in shown


def test_why_an_entry_was_not_used_stays(texts: Texts) -> None:
    assert (
        texts.text("0/0: tensor 'batch' size mismatch at index 0. expected 16, actual 32")
        == "0/0: tensor 'name1' size mismatch at index 0. expected 16, actual 32"
    )
    found = "expected type of 'L['batch']' to be a tensor type, ' but found <class 'Zircon'>"
    assert (
        texts.text(found) == "expected type of 'L['name1']' to be a tensor type, ' but found <class 'name2'>"
    )
    assert texts.text("L['quarry'] == 'velvet hammer'") == "L['name3'] == 'text1'"


@pytest.mark.parametrize(
    "path, shown",
    [
        ("/home/max/Graf Trachyt/train.py", "/folder1/folder2/folder3/file1.py"),
        ("/v/lib/python3.11/site-packages/torch/nn/modules/linear.py", None),
        ("/v/lib/python3.11/site-packages/vllm/worker/model.py", None),
        (
            "/v/lib/python3.11/site-packages/quarry/model.py",
            "/folder1/folder2/folder3/folder4/folder5/file1.py",
        ),
        ("/usr/lib/python3.12/functools.py", "/python/lib/python3.12/functools.py"),
        ("<string>", "<string>"),
        ("_dynamo/output_graph.py", "_dynamo/output_graph.py"),
        ("nn/modules/linear.py", "nn/modules/linear.py"),
        ("nn/modules/customer.py", "folder1/folder2/file1.py"),
        ("data/train.py", "folder1/file1.py"),
    ],
)
def test_paths(texts: Texts, path: str, shown: str | None) -> None:
    public = "/python/lib/python3/site-packages/" + path.partition("/site-packages/")[2]
    assert texts.path(path) == (public if shown is None else shown)


@pytest.mark.parametrize(
    "secret",
    [
        "mallory@quarry.example.org",
        "https://quarry.example.org/?token=abc",
        "10.20.30.40",
        "4929123456781234",
        "2.718281828459",
        "sk-abcdef0123456789",
        "dGhlIHNlY3JldA==",
        "ключ",
        "/Users/mallory/.ssh/id_rsa",
        "C:\\Users\\mallory",
    ],
)
def test_what_has_the_form_of_a_secret_goes(texts: Texts, secret: str) -> None:
    for text in (secret, f"value {secret} of", f"'{secret}'", f"x == {secret}  # {secret}"):
        shown = texts.text(text)
        assert secret not in shown
        assert not any(part in shown for part in ("mallory", "quarry", "abcdef", "ключ", "20.30", "718281"))


def test_a_placeholder_is_never_given_twice(texts: Texts) -> None:
    assert texts.text("name1 name2 alpha9 name1") == "name1 name2 name3 name1"
    placeholders = Placeholders()
    Texts(placeholders).text("name2 zircon name1")
    assert placeholders.given() == {"name": {"name1": "name2", "name2": "zircon", "name3": "name1"}}


def test_a_path_whose_beginning_torch_has_cut_off_is_the_same_path() -> None:
    placeholders = Placeholders()
    whole = placeholders.path("/home/customer/secret/model.py")
    assert placeholders.path("omer/secret/model.py") == whole.partition("/")[2].partition("/")[2]
    assert placeholders.path("other/secret/model.py").partition("/")[2] == "/".join(whole.split("/")[-2:])
    assert "omer" not in placeholders.given()["folder"].values()


def test_a_path_that_was_cut_off_is_of_the_folders_with_the_same_end() -> None:
    placeholders = Placeholders()
    placeholders.path("/home/customer/secret/model.py")
    whole = placeholders.path("/home/boomer/other/model.py")
    assert placeholders.path("omer/other/model.py") == whole.partition("/")[2].partition("/")[2]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("7", True),
        ("0x1f", True),
        ("0XFF", True),
        ("123456789", False),
        ("0x1234567890", False),
        ("2.5", False),
    ],
)
def test_whole_numbers_stay_where_they_are_short_however_they_are_written(written: str, kept: bool) -> None:
    placeholders = Placeholders()
    shown = placeholders.number(written)
    assert (shown == written) is kept
    assert placeholders.number(written) == shown, "the same one each time"
    assert kept or (shown.startswith("100000") and shown.endswith(".5") is ("." in written))
