import json

import clearhead as ch


def test_what_runs_here_is_told(command):
    found = command("machine")
    assert (found.status, found.err) == (0, "")
    assert ch.machine().isa in found.out
    assert ", ".join(ch.machine().isas) in found.out


def test_json_has_the_same(command):
    found = json.loads(command("machine", "--json").out)
    assert found["isa"] == ch.machine().isa
    assert found["isas"] == list(ch.machine().isas)
    assert found["clearhead"] == ch.__version__


def test_an_instruction_set_that_is_not_there_is_refused(process):
    found = process("machine", env={"CLEARHEAD_ISA": "none"})
    assert found.returncode == 2
    assert b"CLEARHEAD_ISA" in found.stderr
