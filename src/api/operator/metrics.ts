import { Elysia, t } from 'elysia'
import { type Metric, Registry } from 'prom-client'
import type { Context } from '../context.ts'
import { type MetricDeps, metricFamilies } from './metric-families.ts'

/** The exposition of Prometheus, made when it is asked for. */
export function createExposition(deps: MetricDeps): {
  contentType: string
  text(): Promise<string>
} {
  const registry = new Registry()
  for (const { name, help, type, samples } of metricFamilies(deps)) {
    // Counted elsewhere: what is on the way of a request must cost nothing.
    const family = {
      name,
      help,
      type,
      get: async () => ({ name, help, type, values: samples() }),
    }
    registry.registerMetric(family as unknown as Metric)
  }
  return { contentType: registry.contentType, text: () => registry.metrics() }
}

/** What this service measures about itself. */
export function metricsRoutes(deps: MetricDeps & Pick<Context, 'access'>) {
  const exposition = createExposition(deps)
  return new Elysia({ tags: ['operator'], detail: { hide: true } }).use(deps.access).get(
    '/metrics',
    async ({ set }) => {
      set.headers['content-type'] = exposition.contentType
      set.headers['cache-control'] = 'no-store'
      return exposition.text()
    },
    {
      access: { operator: 'service' },
      response: t.String(),
      detail: {
        operationId: 'getMetrics',
        summary: 'Metrics',
        description: 'What this service measures about itself, in the text format of Prometheus.',
      },
    },
  )
}
