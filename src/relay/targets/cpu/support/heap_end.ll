; What ends a call that has a heap, for who made it.

; Release the result of a call. Gives how many objects are left: those of cycles through refs.
define i64 @relay_heap_drop_result(ptr %heap) nounwind {
  %result.slot = getelementptr i8, ptr %heap, i64 56
  %result = load i64, ptr %result.slot
  store i64 1, ptr %result.slot
  call void @relay_heap_release(ptr %heap, i64 %result)
  %alive.slot = getelementptr i8, ptr %heap, i64 40
  %alive = load i64, ptr %alive.slot
  ret i64 %alive
}

; Free all memory of a call.
define void @relay_heap_close(ptr %heap) nounwind {
entry:
  %list = getelementptr i8, ptr %heap, i64 32
  %first = load ptr, ptr %list
  store ptr null, ptr %list
  br label %each
each:
  %chunk = phi ptr [ %first, %entry ], [ %next, %free ]
  %end = icmp eq ptr %chunk, null
  br i1 %end, label %done, label %free
free:
  %next = load ptr, ptr %chunk
  call void @relay_free(ptr %chunk)
  br label %each
done:
  ret void
}
