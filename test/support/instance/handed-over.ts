import { type Connections, noConnections } from '../../../src/http/cable.ts'
import { createApp } from '../../../src/instance/app/app.ts'
import { aloneVitals } from '../../../src/topics/condition/service/vitals.ts'
import type { TestInstance } from './instance.ts'

/** An application whose query workers note the path of every request, and take none. */
export function handingOver({ services }: TestInstance, connections?: Partial<Connections>) {
  const asked: string[] = []
  const app = createApp(services, {
    ...(connections && { connections: { ...noConnections, ...connections } }),
    vitals: aloneVitals,
    queryWorkers: {
      ask(_account, { url }) {
        asked.push(url.slice(new URL(url).origin.length))
        return Promise.resolve({ kind: 'needs_writer' })
      },
      rest: () => new ReadableStream(),
      notify: () => undefined,
      waiting: () => 0,
      state: () => ({ ready: 1, starting: 0, failed: 0, fault: undefined }),
      stop: () => undefined,
    },
  })
  return { app, asked }
}
