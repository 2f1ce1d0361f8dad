import { listeningUrl } from '../../config/address.ts'
import type { Services } from '../../instance/services/services.ts'
import { cheapestWith, firstPlan } from '../../plans/plans.ts'
import { addressGroup } from '../../plans/rates/address.ts'
import type { Feature } from '../../plans/tiers.ts'
import { shippedPorts } from '../../topics/catalogue/files/ports.ts'
import { aloneVitals, type Vitals } from '../../topics/condition/service/vitals.ts'
import type { Port } from '../../topics/fuels/math/marine.ts'
import {
  createRecentRequests,
  type RecentRequests,
} from '../../topics/keys/service/recent-requests.ts'
import { createIdempotencyStore } from '../../topics/keys/store/idempotency.ts'
import {
  type BackupDesk,
  type BackupDeskDeps,
  createBackupDesk,
} from '../../topics/operator/service/backup-desk.ts'
import { operatorAccount } from '../../topics/operator/store/settings.ts'
import { createCompletion } from '../answer/complete.ts'
import { type Connections, noConnections } from '../cable.ts'
import type { DevControls } from '../dev-controls.ts'
import { faultMeeter } from '../faults.ts'
import { type AccessPlugin, createAccess, viewerOf } from '../gate/access.ts'
import { clientAddress, type PeerLookup, trustedProxies } from '../gate/address.ts'
import { createGate, type Gate } from '../gate/gate.ts'
import { createOperatorSessions, type OperatorSessions } from '../gate/operator-sessions.ts'
import { createQueryWorkerDispatch } from '../gate/query-worker-dispatch.ts'
import { createRateTables, type RateTables, rateSeed } from '../gate/rates.ts'
import type { Admitted, RequestContext } from '../gate/request-context.ts'
import { createIdempotency, type Idempotency } from '../idempotency.ts'
import { type CodeReader, createCodeReader } from '../input/codes.ts'
import { createIgnoredParameters, type IgnoredParameters } from '../input/ignored-parameters.ts'
import { createKnownNames, type KnownNames } from '../input/known-names.ts'
import { linker } from '../problem/links.ts'
import type { Links } from '../problem/refusals.ts'
import {
  createClientProfiles,
  type Profiles,
  type Switched,
  unswitched,
} from '../profiles/profiles.ts'
import type { QueryWorkerPool } from '../query-workers/pool.ts'
import type { Marks } from './answer.ts'
import { type CommodityTexts, createCommodityTexts } from './commodities/texts.ts'

export interface ContextOptions {
  /** The address of the other end of a connection. */
  peer?: PeerLookup
  /** The address that the server listens on, once it does. */
  url?: () => string | undefined
  /**
   * Short answers get all of their headers where they are made, so the front sends them unchecked.
   */
  completes?: boolean
  /** Requests that came through the socket in the data directory. */
  local?: WeakSet<Request>
  /** The rolling windows, where they are kept from one start to the next. */
  rates?: RateTables
  /** The controls of a demo instance. */
  dev?: DevControls
  /** The health of the process around the API. */
  vitals?: Vitals
  /** Threads that answer slow requests; without them the main thread does. */
  queryWorkers?: QueryWorkerPool
  /** In a query worker: requests that the main thread has admitted. */
  admitted?: WeakMap<Request, Admitted>
  /** Functions that only the server of the connections can provide. */
  connections?: Connections
  /** Runs a command of this program on this directory, in its own process. */
  command?: BackupDeskDeps['command']
  /** Gets the context of each request, for the access log. */
  requestContexts?: WeakMap<Request, RequestContext>
  /** Gets requests whose charge the stream of changes does not have yet. */
  uncharged?: WeakSet<Request>
}

/** Everything that an operation may use. Its destructuring names what it needs. */
export interface Context extends Services, Vitals {
  access: AccessPlugin
  /** The known routes and parameters, complete once the application is. */
  names: KnownNames
  ignoredParameters: IgnoredParameters
  gate: Gate
  recentRequests: RecentRequests
  operators: OperatorSessions
  /**
   * Requests that this instance makes for another, by the one they are made for: they come from its
   * address.
   */
  onBehalf: WeakMap<Request, Request>
  rates: RateTables
  connections: Connections
  controls: DevControls | undefined
  backupDesk: BackupDesk
  profiles: Profiles | undefined
  /** Which switches the profile of a request's client has on. */
  switched: Switched
  codes: CodeReader
  marks: Marks
  idempotency: Idempotency
  /** When the API was put together, monotonic ms: routes come when they are requested. */
  openedMs: number
  now(): number
  /** Addresses of documentation and pages, as the request's own host sees them. */
  links(request: Request): Links
  /** Codes that lists, briefs and widgets begin with, and that the demo serves. */
  firstCodes: readonly string[]
  commodityTexts: CommodityTexts
  ports: readonly Port[]
  /** Name of the lowest plan that has a feature; empty where no plan can have it. */
  tierRequired(feature: Feature): string
  /** The group of a client's address, by which failed attempts are counted. */
  addressOf(request: Request): string
  /** The public address of this service, for links in e-mails. Never taken from a request. */
  ownUrl(): string
  /** Why a target may not be called; undefined when it may. */
  checkTarget(url: string): string | undefined
  serviceName: string
  /** The prefix of the service's own headers. */
  headerPrefix: string
  /** The words for the exchange in paths; responses use the first one. */
  exchangeWords: readonly string[]
  /** Name and address on invoices, line by line. */
  issuer: readonly string[]
  /** The most characters of a key's name. */
  nameMax: number
  /** The most rows a page of a windowed endpoint has. */
  perPageMax: number
}

/** Puts together what resources share, over one set of services. */
export function createContext(services: Services, options: ContextOptions): Context {
  const { config, clock, ids, db, keys, plans, limits, catalogue, egress } = services
  const { brand, server, demo } = config
  const {
    peer: connection = null,
    url = () => undefined,
    local = new WeakSet(),
    rates = createRateTables(limits, rateSeed(ids)),
    vitals = aloneVitals,
    connections: ofServer = noConnections,
    dev: controls,
  } = options
  const names = createKnownNames()
  const ignoredParameters = createIgnoredParameters(names, brand.headerPrefix)
  const onBehalf = new WeakMap<Request, Request>()
  const peer: PeerLookup = connection && {
    requestIP: request => connection.requestIP(onBehalf.get(request) ?? request),
  }
  const connections: Connections = {
    ...ofServer,
    idle: (request, seconds) => ofServer.idle(onBehalf.get(request) ?? request, seconds),
  }
  const { now } = clock
  const ownUrl = () => server.baseUrl || url() || listeningUrl(server)
  const linksOf = linker(config)
  // The address of a command on this machine is that of a socket.
  const links = (request: Request) => linksOf(local.has(request) ? { url: ownUrl() } : request)
  const trusted = trustedProxies(server.trustedProxies)
  const { isOverloaded } = vitals
  const operators = createOperatorSessions({
    ...services,
    operatorAccount: () => services.settings.get(operatorAccount),
    visitorAccount: controls?.visitorAccount,
    addressOf: request => clientAddress(request, peer, trusted),
  })
  const recentRequests = createRecentRequests()
  const gate = createGate({
    ...services,
    recentRequests,
    operators,
    rates,
    isOverloaded,
    freshSignInMs: config.sessions.freshSignInMs,
    twoFactorStep: {
      isRequired: config.sessions.secondFactor,
      isOn: services.secondFactor.isOn,
    },
    trusted,
    local,
    links,
    ...(options.admitted && { admitted: options.admitted }),
    ...(options.completes && {
      complete: createCompletion(config.server.baseUrl.startsWith('https:')),
    }),
    requestContexts: options.requestContexts,
    uncharged: options.uncharged,
  })
  const profiles =
    config.clientProfiles.length > 0
      ? createClientProfiles(config.clientProfiles, options.admitted)
      : undefined
  const queryWorkerDispatch =
    options.queryWorkers &&
    createQueryWorkerDispatch({
      ...services,
      pool: options.queryWorkers,
      profiles,
      now,
      snapshotAt: services.ingest.snapshotAt,
      connections,
      isMalformed: names.isMalformed,
      isKnownCode: code => catalogue.resolve(code, now()) !== undefined,
    })
  const reload = () => {
    keys.reload()
    services.webhooks.reload()
    services.adminTokens.reload()
    services.catalogue.reload()
    services.quarantine.reload()
    services.credits.reset()
  }
  return {
    ...services,
    ...vitals,
    access: createAccess(gate, peer, {
      parameters: ignoredParameters,
      queryWorkers: queryWorkerDispatch,
      setViewer: requestContext => services.viewers.set(() => viewerOf(requestContext)),
      meetFault: controls && faultMeeter(controls.faults, plans, links, now),
      noteArrival: controls?.requests.arrive,
    }),
    names,
    ignoredParameters,
    gate,
    recentRequests,
    operators,
    onBehalf,
    rates,
    connections,
    controls,
    backupDesk: createBackupDesk({
      command: options.command,
      isConfigured: config.backups.directory !== '' || config.backups.s3Bucket !== '',
      record: services.backupRecord,
      clock,
    }),
    profiles,
    switched: profiles?.switched ?? unswitched,
    codes: createCodeReader(catalogue, now, limits.codesPerRequestMax, links, profiles?.switched),
    marks: { fixtureHeader: `${brand.headerPrefix}Data` },
    idempotency: createIdempotency({
      store: createIdempotencyStore(db),
      vault: services.vault,
      reload,
      now,
    }),
    openedMs: clock.monotonic(),
    now,
    links,
    firstCodes: demo.codes,
    commodityTexts: createCommodityTexts({ ...services, firstCodes: demo.codes, now }),
    ports: shippedPorts(),
    tierRequired: feature => cheapestWith(plans, feature, firstPlan)?.plan.tierName ?? '',
    addressOf: request => addressGroup(clientAddress(request, peer, trusted)),
    ownUrl,
    checkTarget: egress.checkTarget,
    serviceName: brand.serviceName,
    headerPrefix: brand.headerPrefix,
    exchangeWords: brand.exchangeWords,
    issuer:
      config.billing.issuer === ''
        ? [brand.serviceName]
        : config.billing.issuer.split(';').map(line => line.trim()),
    nameMax: limits.keyNameMax,
    perPageMax: limits.windowedPerPageMax,
  }
}
