import { createDataSourcesJob } from '../../../src/instance/jobs/data-sources.ts'
import type { DataSource } from '../../../src/topics/sources/service/sources.ts'
import { openTestInstance, type TestInstance } from '../instance/instance.ts'

export const loopback = {
  'egress.allow': '127.0.0.0/8',
  'limits.per_minute': '100000',
  'limits.unauthenticated_per_minute': '100000',
}

/** An instance whose data sources are synced on demand. */
export interface SourceInstance extends TestInstance {
  token: string
  /** Makes a source and answers its id. */
  make(source: Record<string, unknown>, token?: string): Promise<string>
  source(id: string): DataSource
  /** Everything that is due, once. */
  syncAll(): Promise<void>
  job: ReturnType<typeof createDataSourcesJob>
  ask<T>(
    method: string,
    path: string,
    body?: unknown,
    token?: string,
  ): Promise<{ status: number; data: T; text: string }>
}

export function openSourceInstance(flags: Record<string, string> = {}): SourceInstance {
  const h = openTestInstance({ ...loopback, ...flags })
  const own = h.key()
  const job = createDataSourcesJob(h.services)
  const ask = async <T>(method: string, path: string, body?: unknown, token = own) => {
    const response =
      method === 'GET' ? await h.get(path, token) : await h.send(method, path, body, token)
    const text = await response.text()
    return {
      status: response.status,
      data: (text === '' ? undefined : JSON.parse(text)) as T,
      text,
    }
  }
  return {
    ...h,
    token: own,
    job,
    ask,
    async make(source, token) {
      const { status, data, text } = await ask<{ data: { id: string } }>(
        'POST',
        '/v1/data-sources',
        { data_source: { name: 'feed', ...source } },
        token,
      )
      if (status !== 201) throw new Error(text)
      return data.data.id
    },
    source: id => h.services.dataSources.byId(id)!,
    async syncAll() {
      await job.pass()
      await job.settled()
    },
  }
}

export const row = {
  timestamp: '2026-11-20T09:30:00Z',
  fuel_type: 'VLSFO',
  port: 'SINGAPORE',
  price: 531.5,
}

/** A server on loopback with scripted responses, which records its requests. */
export function rowServer(
  answer: (request: Request) => Response | Promise<Response> = () => Response.json([row]),
) {
  const requests: { url: string; method: string; headers: Map<string, string> }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      // The body of a request cannot be read after the response.
      requests.push({ url: request.url, method: request.method, headers: new Map(request.headers) })
      return answer(request)
    },
  })
  return { requests, url: `http://127.0.0.1:${server.port}/rows`, stop: () => server.stop(true) }
}
