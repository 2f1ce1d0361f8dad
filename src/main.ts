#!/usr/bin/env bun
import { writeSync } from 'node:fs'
import { isCompiled } from './cli/child.ts'
import { exitCodes } from './cli/exit-codes.ts'
import { installationOf } from './cli/installation.ts'
import { run } from './cli/program.ts'
import { endAtOnce } from './lib/process/end-at-once.ts'
import { createOutput } from './lib/process/output.ts'
import { yieldTurn } from './lib/process/yield-turn.ts'

const output = createOutput(process.stdout, 'Standard output')
const errors = createOutput(process.stderr, 'Standard error')

process.on('uncaughtException', error => {
  try {
    writeSync(process.stderr.fd, `${error.stack ?? error}\n`)
  } finally {
    endAtOnce()
  }
})

let code = await run(process.argv.slice(2), {
  env: process.env,
  directory: process.cwd(),
  ...(isCompiled() && { installed: installationOf(process.execPath) }),
  out: line => output.put(`${line}\n`),
  err: line => errors.put(`${line}\n`),
  write: output.write,
  onLost: errors.onLost,
  stdin: Bun.stdin.stream(),
  terminal: process.stderr.isTTY ? process.stderr : undefined,
  canAsk: process.stdin.isTTY === true && process.stderr.isTTY === true,
  isTerminal: process.stdout.isTTY === true,
  width: process.stdout.isTTY && process.stdout.columns > 0 ? process.stdout.columns : undefined,
  yieldTurn,
  onStop(listener) {
    process.on('SIGTERM', listener)
    process.on('SIGINT', listener)
  },
  exit: status => process.exit(status),
})
// Buffered output is lost with the process.
const fault = await output.settled()
if (fault && !fault.isClosed && code === exitCodes.done) {
  errors.put(`${fault.message}\n`)
  code = exitCodes.failed
}
await errors.settled()
process.exit(code)
