import { edenGC } from 'bun:jsc'
import { soon } from '../time/clock.ts'

/**
 * Collects what was made since the last collection, after so many calls of the function that is
 * answered, once what runs has come to its end. Left to itself the engine waits until as much
 * garbage has come together as there is data alive; by then all of that memory has been given back
 * to the system and is asked for anew, page by page, which costs a short answer more than its own
 * making. A collection of what is young takes one or two milliseconds.
 */
export function createYoungCollector(callsMax: number, collect: () => void = edenGC): () => void {
  let calls = 0
  return () => {
    calls += 1
    if (calls < callsMax) return
    calls = 0
    soon(collect)
  }
}
