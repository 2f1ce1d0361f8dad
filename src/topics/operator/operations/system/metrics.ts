import { t } from '../../../../http/answer/schema.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { metricFamilies } from './metric-families.ts'

/**
 * The exposition of Prometheus. The library is loaded at the first request, so that it does not
 * delay the start.
 */
async function registryOf(deps: Context) {
  const { Registry } = await import('prom-client')
  const registry = new Registry()
  // Its types know only the library's own counters.
  const families: { registerMetric(family: object): void } = registry
  for (const { name, help, type, samples } of metricFamilies(deps)) {
    // Values are computed when the metrics are read, so that requests pay nothing for them.
    families.registerMetric({
      name,
      help,
      type,
      get: async () => ({ name, help, type, values: samples() }),
    })
  }
  return registry
}

/** The metrics of this service. */
export function metricsOperations(deps: Context) {
  let registering: ReturnType<typeof registryOf> | undefined
  return [
    operation('GET /metrics', {
      operationId: 'getMetrics',
      summary: 'Metrics',
      description: 'What this service measures about itself, in the text format of Prometheus.',
      hidden: true,
      access: { operator: 'service' },
      answers: t.String(),
      handle: async ({ reply }) => {
        registering ??= registryOf(deps)
        const registry = await registering
        reply.headers['content-type'] = registry.contentType
        reply.headers['cache-control'] = 'no-store'
        return registry.metrics()
      },
    }),
  ]
}
