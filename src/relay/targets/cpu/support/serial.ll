; Parallel loops where the thread pool is not supported: one thread.

define i32 @relay_num_threads() nounwind {
  ret i32 1
}

define void @relay_set_num_threads(i32 %count) nounwind {
  ret void
}

define void @relay_limit_threads(i32 %count) nounwind {
  ret void
}

define void @relay_set_pinning(i32 %on) nounwind {
  ret void
}

define void @relay_parallel_for(ptr %function, ptr %context, i64 %count, i64 %grain, i64 %backwards) nounwind {
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %run, label %done
run:
  call void %function(ptr %context, i64 0, i64 %count)
  br label %done
done:
  ret void
}
