import { adminData } from './api/admin-data.ts'
import { type DevControls, dev } from './api/dev.ts'
import { docs } from './api/docs.ts'
import { latest } from './api/latest.ts'
import { windows } from './api/windows.ts'
import { accessPlugin } from './http/access.ts'
import { type PeerLookup, trustedProxies } from './http/address.ts'
import { base } from './http/base.ts'
import { codeReader } from './http/codes.ts'
import { faultMeeter } from './http/faults.ts'
import { gate } from './http/gate.ts'
import { apiIntroduction, apiTags } from './http/introduction.ts'
import { linker } from './http/links.ts'
import { documentOf } from './http/openapi.ts'
import { rateTables } from './http/rates.ts'
import type { Services } from './services.ts'

export interface AppOptions {
  /** The address of the other end of a connection. */
  peer?: PeerLookup
  /** Requests that came through the socket in the data directory. */
  local?: WeakSet<Request>
  /** The controls of an evaluation copy. */
  dev?: DevControls
}

/** The whole interface over one set of services. The list of resources is the table of contents. */
export function createApp(services: Services, { peer = null, local = new WeakSet(), dev: controls }: AppOptions = {}) {
  const { config, clock, ids, log, keys, meter, plans, limits, adminTokens, catalogue, board, history, quarantine, ingest, observations } =
    services
  const links = linker(config)
  const rates = rateTables(limits, Number.parseInt(ids.token().slice(0, 12), 16))
  const trusted = trustedProxies(config.server.trustedProxies)
  const door = gate({ keys, meter, plans, rates, adminTokens, clock, trusted, local, links })
  const access = accessPlugin(door, peer, controls && faultMeeter(controls.faults, plans, links, clock.now))
  const now = clock.now
  const codes = codeReader(catalogue, now, limits.codesPerRequestMax, links)
  const marks = { fixtureHeader: `${config.brand.headerPrefix}Data` }
  const shared = { access, board, catalogue, codes, meter, marks, now, firstCodes: config.demo.codes }
  const app = base({ access, gate: door, ids, log, links, corsOrigins: config.cors.origins })
    .use(latest(shared))
    .use(
      windows({
        ...shared,
        history,
        quarantine,
        ingest,
        perPageMax: limits.windowedPerPageMax,
        coverageSinceAt: config.vintage.coverageSinceAt,
      }),
    )
    .use(adminData({ access, catalogue, ingest, quarantine, observations, now }))
    .use(docs({ gate: access, serviceName: config.brand.serviceName, document: (): Promise<string> => document() }))
  if (controls) app.use(dev({ ...controls, access, keys, ids, trialDays: limits.trialDays }))
  const document = documentOf(app, {
    serviceName: config.brand.serviceName,
    description: apiIntroduction(config.brand.serviceName),
    baseUrl: config.server.baseUrl || '/',
    tags: apiTags,
  })
  return app
}

export type App = ReturnType<typeof createApp>
