import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../until.ts'

export interface NatsServer {
  url: string
  /** Ends the server and keeps what it stored. */
  stop(): Promise<void>
  /** Starts it again over what it stored, on the same port. */
  start(): Promise<void>
  remove(): Promise<void>
}

export interface NatsServerOptions {
  /** The largest message that the server accepts, in bytes. */
  maxPayload?: number
}

/** A server with JetStream on a free port of this machine, over its own directory. */
export async function natsServer({ maxPayload }: NatsServerOptions = {}): Promise<NatsServer> {
  const dir = mkdtempSync(join(tmpdir(), 'wellhead-nats-'))
  const port = await freePort()
  const log = join(dir, 'nats.log')
  const settings = join(dir, 'nats.conf')
  await Bun.write(settings, maxPayload === undefined ? '' : `max_payload: ${maxPayload}\n`)
  let running: Bun.Subprocess | undefined
  const start = async () => {
    const options = [
      '-c',
      settings,
      '-js',
      '-sd',
      dir,
      '-a',
      '127.0.0.1',
      '-p',
      String(port),
      '-l',
      log,
    ]
    const started: Bun.Subprocess = Bun.spawn(['nats-server', ...options], {
      stdout: 'ignore',
      stderr: 'ignore',
      onExit(_, code, signal) {
        if (started !== running) return
        // A supervisor would start it again, and the test would wait without a reason.
        console.warn(
          `nats-server ended by itself (${code ?? signal}):\n${readFileSync(log, 'utf8').slice(-2000)}`,
        )
        void start()
      },
    })
    running = started
    await until('nats-server answers', () => answers(port))
  }
  const stop = async () => {
    const stopped = running
    running = undefined
    stopped?.kill()
    await stopped?.exited
  }
  await start()
  return {
    url: `nats://127.0.0.1:${port}`,
    start,
    stop,
    async remove() {
      await stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export const freePort = () =>
  new Promise<number>(done => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      const port = typeof address === 'object' && address ? address.port : 0
      probe.close(() => done(port))
    })
  })

/** The server introduces itself to every client that connects. */
const answers = (port: number) =>
  new Promise<boolean>(done => {
    const socket = connect(port, '127.0.0.1')
    const end = (isThere: boolean) => {
      socket.destroy()
      done(isThere)
    }
    socket.once('data', () => end(true))
    socket.once('error', () => end(false))
  })
