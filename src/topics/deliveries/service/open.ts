import type { Runtime } from '../../../config/runtime.ts'
import { createDeliveries, type Deliveries, type DeliveriesDeps } from './deliveries.ts'

export interface DeliveryServices {
  deliveries: Deliveries
}

export const openDeliveries = (
  deps: Pick<Runtime, 'config'> & Omit<DeliveriesDeps, 'enabled' | 'serviceName'>,
): DeliveryServices => ({
  deliveries: createDeliveries({
    ...deps,
    enabled: deps.config.deliveries.enabled,
    serviceName: deps.config.brand.serviceName,
  }),
})
