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

// It ends with the server.
await import('../../../src/main.ts')
