/** A server that, from SIGUSR2 to the next one, has more to do than it gets done. */
const workMs = 350
const restMs = 40

let working: Timer | undefined

const work = () => {
  const end = performance.now() + workMs
  while (performance.now() < end);
}

process.on('SIGUSR2', () => {
  if (working === undefined) working = setInterval(work, workMs + restMs)
  else {
    clearInterval(working)
    working = undefined
  }
})

// Counts all time as time of this thread, because on a machine that gives it less than a quarter of
// a processor no wait would count. The tests of the lag record cover that share.
process.threadCpuUsage = () => ({ user: performance.now() * 1000, system: 0 })

// It ends with the server.
await import('../../../src/main.ts')
