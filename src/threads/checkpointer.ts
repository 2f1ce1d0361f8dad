import { after } from '../lib/time/clock.ts'
import { secondMs } from '../lib/time/instant.ts'
import { spawnThread } from './thread.ts'

/** Folds the log of one database in a thread. */
export interface Folder {
  /** Resolves when the log is folded as far as it could be, or the thread has ended. One at a time. */
  fold(): Promise<void>
  stop(): void
}

/** A thread takes 8 MB, for which a server that seldom writes has better use. */
const idleMs = 30 * secondMs

/** The thread is started when it is needed, and ends when nothing was folded for a while. */
export function createFolder(path: string): Folder {
  let thread: Worker | undefined
  let stopWaiting = () => {}
  let folded = () => {}
  const end = () => {
    stopWaiting()
    thread?.terminate()
    thread = undefined
    folded()
  }
  const start = (): Worker => {
    const worker = spawnThread('checkpointer')
    worker.onmessage = () => {
      stopWaiting = after(idleMs, end)
      folded()
    }
    // An earlier thread may tell of its end when there is another.
    const onEnd = () => {
      if (thread === worker) end()
    }
    worker.onerror = onEnd
    worker.addEventListener('close', onEnd)
    return worker
  }
  return {
    fold() {
      stopWaiting()
      thread ??= start()
      const worker = thread
      return new Promise<void>(done => {
        folded = done
        worker.postMessage(path)
      })
    },
    stop: end,
  }
}
