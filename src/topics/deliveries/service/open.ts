import type { Runtime } from '../../../config/runtime.ts'
import { createDeliveries, type DeliveriesDeps } from './deliveries.ts'

export type DeliveryServices = ReturnType<typeof openDeliveries>

export const openDeliveries = (
  deps: Pick<Runtime, 'config'> & Omit<DeliveriesDeps, 'enabled' | 'serviceName'>,
) => ({
  deliveries: createDeliveries({
    ...deps,
    enabled: deps.config.deliveries.enabled,
    serviceName: deps.config.brand.serviceName,
  }),
})
