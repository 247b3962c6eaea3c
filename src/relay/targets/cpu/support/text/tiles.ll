; Made of tiles.c by `python -m relay.targets.cpu.support.generate`.

define internal i1 @relay_ask_for_tiles() nounwind {
entry:
  %call = tail call i64 (i64, ...) @syscall(i64 158, i64 4131, i64 18) nounwind
  %cmp = icmp eq i64 %call, 0
  ret i1 %cmp
}

declare i64 @syscall(i64, ...)
