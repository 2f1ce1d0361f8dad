import type { Runtime } from '../../../config/runtime.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { PriceServices } from '../../prices/service/open.ts'
import { createCable } from './cable.ts'
import { createCablePrices } from './cable-prices.ts'
import { createStreams } from './streams.ts'

export type StreamServices = ReturnType<typeof openStreams>

export interface StreamServicesDeps
  extends Pick<Runtime, 'config' | 'clock' | 'log'>,
    Pick<PriceServices, 'latestPrices' | 'exchange' | 'ingest'> {
  catalogue: Catalogue
  keys: Keyring
}

export function openStreams(deps: StreamServicesDeps) {
  const { config, clock, log, catalogue, latestPrices, exchange } = deps
  const streams = createStreams({ log, perKey: config.streams.perKey })
  return {
    streams,
    cable: createCable({
      ...deps,
      streams,
      prices: createCablePrices(catalogue, latestPrices, exchange, clock.now),
      channels: config.brand.streamChannels,
    }),
  }
}
