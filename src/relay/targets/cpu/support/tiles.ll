; Whether the process may use the tiles of AMX: it has to ask Linux for them, and may ask again
; (arch_prctl ARCH_REQ_XCOMP_PERM for XFEATURE_XTILEDATA).

declare i64 @syscall(i64, ...)

define internal i1 @relay_ask_for_tiles() nounwind {
  %refused = call i64 (i64, ...) @syscall(i64 158, i64 4131, i64 18)
  %granted = icmp eq i64 %refused, 0
  ret i1 %granted
}
