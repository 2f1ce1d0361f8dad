import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { evaluationKeys } from '../../../src/cli/server/first-start.ts'
import { loadConfig } from '../../../src/config/config.ts'
import type { Connections } from '../../../src/http/cable.ts'
import { openInstance, type Instance as Running } from '../../../src/instance/instance.ts'
import { databasePath } from '../../../src/instance/services/directory.ts'
import { createSeededIds } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createLogTail } from '../../../src/lib/log/log-tail.ts'
import { createManualClock, type ManualClock } from '../../../src/lib/time/clock.ts'
import { demoDatabase } from './demo-database.ts'

/** A demo instance in this process, with a stopped clock. */
export interface DemoInstance {
  running: Running
  clock: ManualClock
  apiKey: string
  adminToken: string
  /** The data directory. */
  dir: string
  /** A request as a client would make it; without a key when `key` is null. */
  ask(
    method: string,
    path: string,
    options?: { key?: string | null; body?: unknown; headers?: Record<string, string> },
  ): Promise<Response>
  remove(): void
}

export interface InstanceOptions {
  /** A database that the instance begins with, instead of one that is generated. */
  database?: string
  /** The controls under /_dev are there, but for those that need a directory to keep states in. */
  controls?: boolean
  /** Upgrades requests to sockets, where the instance is served. */
  connections?: Connections
  /** Gets every line of the log, the least important ones too. */
  log?: (line: string) => void
}

const unkept = () => Promise.reject(new Error('this instance has no snapshots'))

export function demoInstance(
  now = Date.parse('2026-11-20T15:00:00Z'),
  flags: Record<string, string> = {},
  { database, controls = false, connections, log }: InstanceOptions = {},
): DemoInstance {
  const dir = mkdtempSync(join(tmpdir(), 'wellhead-copy-'))
  const clock = createManualClock(now)
  const config = loadConfig({
    mode: 'dev',
    flags: {
      // Years of every code are generated only for tests that are about them.
      'dev.world': 'small',
      'limits.per_minute': '100000',
      'limits.marine_per_minute': '100000',
      'limits.marine_historical_per_minute': '100000',
      ...flags,
    },
    env: {},
    files: { directory: '/' },
    readFile: () => 'client_profiles = []',
  })
  copyFileSync(database ?? demoDatabase(config, now), databasePath(dir))
  const logTail = createLogTail()
  const running = openInstance({
    runtime: {
      config,
      clock,
      // No test waits for the pause between requests to a publisher.
      wait: async () => {},
      ids: createSeededIds(7),
      logTail,
      log: createLog({
        level: log ? 'debug' : 'error',
        format: 'json',
        write: line => {
          logTail.add(line)
          log?.(line)
        },
        clock,
      }),
    },
    dir,
    ...(controls && {
      keeping: {
        snapshot: unkept,
        dropSnapshot: () => false,
        restore: unkept,
        reset: unkept,
      },
    }),
    ...(connections && { connections }),
  })
  running.feed!.advance(now + 1)
  const { apiKey, adminToken } = evaluationKeys(running.services, dir)
  return {
    running,
    clock,
    apiKey: apiKey!,
    adminToken: adminToken!,
    dir,
    ask(method, path, { key = apiKey!, body, headers = {} } = {}) {
      const text =
        body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
      return running.app.handle(
        new Request(`http://localhost${path}`, {
          method,
          headers: {
            ...(key !== null && { authorization: `Token ${key}` }),
            ...(text !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(text !== undefined && { body: text }),
        }),
      )
    },
    remove() {
      running.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
