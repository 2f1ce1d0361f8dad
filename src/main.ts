#!/usr/bin/env bun
import { writeSync } from 'node:fs'
import { isCompiled } from './cli/child.ts'
import { installationOf } from './cli/installation.ts'
import { run } from './cli/program.ts'
import { endAtOnce } from './lib/process/end-at-once.ts'
import { yieldTurn } from './lib/process/yield-turn.ts'

process.on('uncaughtException', error => {
  writeSync(process.stderr.fd, `${error.stack ?? error}\n`)
  endAtOnce()
})

/** Resolves when the text has left this process: a pipe takes it when its consumer does. */
const write = (stream: NodeJS.WriteStream, text: string) =>
  new Promise<void>(done => stream.write(text, () => done()))

const code = await run(process.argv.slice(2), {
  env: process.env,
  directory: process.cwd(),
  ...(isCompiled() && { installed: installationOf(process.execPath) }),
  out: line => void write(process.stdout, `${line}\n`),
  err: line => void write(process.stderr, `${line}\n`),
  write: text => write(process.stdout, text),
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
// Waits until both streams have taken all output, because buffered output is lost with the process.
await Promise.all([write(process.stdout, ''), write(process.stderr, '')])
process.exit(code)
