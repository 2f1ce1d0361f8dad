import { after } from '../lib/time/clock.ts'
import { secondMs } from '../lib/time/instant.ts'
import { spawnThread } from './thread.ts'

/** A thread takes 8 MB, which a server that seldom writes can save. */
const idleMs = 30 * secondMs

/** The thread starts with the first checkpoint, and ends when there was none for a while. */
export function createCheckpointer(path: string) {
  let thread: Worker | undefined
  let stopWaiting = () => {}
  let finished = () => {}
  const end = () => {
    stopWaiting()
    thread?.terminate()
    thread = undefined
    finished()
  }
  const start = (): Worker => {
    const worker = spawnThread('checkpointer')
    worker.onmessage = () => {
      stopWaiting = after(idleMs, end)
      finished()
    }
    // The end of an earlier thread may be reported after the next one has started.
    const onEnd = () => {
      if (thread === worker) end()
    }
    worker.onerror = onEnd
    worker.addEventListener('close', onEnd)
    return worker
  }
  return {
    /** Resolves when the checkpoint has finished, or the thread has ended. One at a time. */
    checkpoint() {
      stopWaiting()
      thread ??= start()
      const worker = thread
      return new Promise<void>(done => {
        finished = done
        worker.postMessage(path)
      })
    },
    stop: end,
  }
}
