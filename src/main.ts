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

const lastWrites = new Map<NodeJS.WriteStream, Promise<void>>()

/** Resolves when the text has left this process: a pipe takes it when its consumer does. */
function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  const written = new Promise<void>(done => stream.write(text, () => done()))
  lastWrites.set(stream, written)
  return written
}

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
// Buffered output is lost with the process. An empty write would not do: the engine calls it done
// while the text before it still waits.
await Promise.all(lastWrites.values())
process.exit(code)
