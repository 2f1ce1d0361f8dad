import type { Config } from '../../config/config.ts'
import { createBase, type UnknownPages, unknownRoute } from '../../http/base.ts'
import { foreignTokenOf } from '../../http/gate/credentials.ts'
import { documentOptions } from '../../http/openapi/introduction.ts'
import { documentOf } from '../../http/openapi/openapi.ts'
import { shippedDocument } from '../../http/openapi/shipped.ts'
import { type Api, createApi } from '../../http/operations/api.ts'
import { type Context, type ContextOptions, createContext } from '../../http/operations/context.ts'
import { mount } from '../../http/operations/mount.ts'
import { numberDescriptions } from '../../http/operations/number-descriptions.ts'
import { createQueryWorkerDocument } from '../../http/query-workers/document.ts'
import { continuingTraces } from '../../http/tracing.ts'
import { mcpPath, resourceMetadataPath } from '../../topics/assistants/operations/metadata.ts'
import type { Services } from '../services/services.ts'
import { type OwnAnswers, topics } from './topics.ts'

/** The whole API over one set of services. */
export function createApp(services: Services, options: ContextOptions = {}): Api {
  const context = createContext(services, options)
  const pages: UnknownPages = {}
  const base = {
    ...context,
    corsOrigins: context.config.cors.origins,
    pages,
    resourceMetadata: mcpMetadataOf(context),
  }
  const api = createApi({
    groups: topics.map(({ operations, below }) => ({
      below,
      open: () => mount(createBase(base), context, operations(context, answers)),
    })),
    registered: routes => context.names.learn(routes, () => api.routes),
    unknown: unknownRoute(base),
  })
  const answers: OwnAnswers = {
    answer: async request => await fetch(request),
    document: documentFor(api, context, options),
    pages,
  }
  const { catalogue, viewers } = services
  // Where some series are restricted, each request is answered as its caller sees them.
  const forViewer = (request: Request) =>
    catalogue.isRestricted ? viewers.request(() => api.fetch(request)) : api.fetch(request)
  // Only a demo instance records the requests that it receives.
  const noted = context.controls ? context.controls.requests.noting(forViewer) : forViewer
  const traced = continuingTraces(noted, {
    tracer: services.tracer,
    requestContexts: options.requestContexts,
  })
  const { company } = services
  // The signature of an access token is checked before, because the gate does not wait.
  const fetch = (request: Request): ReturnType<typeof traced> => {
    const token = company && foreignTokenOf(request)
    return token ? company.meet(request, token).then(() => traced(request)) : traced(request)
  }
  return {
    fetch,
    handle: answers.answer,
    get routes() {
      return api.routes
    },
  }
}

/** Hosted assistants find by it who issues keys. */
const mcpMetadataOf =
  ({ ownUrl }: Context) =>
  (path: string) =>
    path === mcpPath ? `${ownUrl()}${resourceMetadataPath}${mcpPath}` : undefined

/**
 * The OpenAPI document: the one built into the binary where the settings match it, otherwise a new
 * one. A query worker compares and makes it where there is one, because both register all routes,
 * during which the main thread would answer nothing.
 */
function documentFor(
  api: Api,
  { config, clock, ingest }: Context,
  { queryWorkers }: ContextOptions,
): () => Promise<string> {
  let makeDocument: (() => Promise<string>) | undefined
  const ownDocument = async () => {
    const settings = documentSettings(config)
    makeDocument ??= documentOf(api, settings)
    return (await shippedDocument(api, settings)) ?? (await makeDocument())
  }
  return queryWorkers
    ? createQueryWorkerDocument({
        pool: queryWorkers,
        own: ownDocument,
        now: clock.now,
        snapshotAt: ingest.snapshotAt,
      })
    : ownDocument
}

/** Settings of the OpenAPI document that do not come from its routes. */
export const documentSettings = (config: Config) => ({
  ...documentOptions(config),
  numbers: numberDescriptions,
})

export type App = Api
