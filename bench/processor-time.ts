import { readdirSync, readFileSync } from 'node:fs'

/** Processor time that a process has used so far, over all threads. */
export function processorMs(pid: number): number {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [worked] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
    nanoseconds += Number(worked)
  }
  return nanoseconds / 1e6
}

const idleShare = 0.05
const lookedAtMs = 2000
const idleWaitMs = 120_000

/** Resolves once a process has done next to nothing for two seconds. */
export async function whenIdle(pid: number): Promise<void> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < idleWaitMs) {
    const before = processorMs(pid)
    await Bun.sleep(lookedAtMs)
    if (processorMs(pid) - before < lookedAtMs * idleShare) return
  }
  throw new Error('the server does not come to rest')
}
