#!/usr/bin/env bun
import { run } from './cli/program.ts'

const write = (stream: NodeJS.WriteStream, text: string) => void stream.write(text)

process.exit(
  await run(process.argv.slice(2), {
    env: process.env,
    directory: process.cwd(),
    out: line => write(process.stdout, `${line}\n`),
    err: line => write(process.stderr, `${line}\n`),
    write: text => write(process.stdout, text),
    stdin: Bun.stdin.stream(),
    terminal: process.stderr.isTTY ? process.stderr : undefined,
    onStop(listener) {
      process.on('SIGTERM', listener)
      process.on('SIGINT', listener)
    },
    exit: code => process.exit(code),
  }),
)
