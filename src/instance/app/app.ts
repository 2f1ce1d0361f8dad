import type { AnyElysia } from 'elysia'
import type { Config } from '../../config/config.ts'
import { createBase, type UnknownPages } from '../../http/base.ts'
import type { DevControls } from '../../http/dev-controls.ts'
import { addLate } from '../../http/late-routes.ts'
import { documentOptions } from '../../http/openapi/introduction.ts'
import { documentOf } from '../../http/openapi/openapi.ts'
import { shippedDocument } from '../../http/openapi/shipped.ts'
import { type Context, type ContextOptions, createContext } from '../../http/operations/context.ts'
import { mount } from '../../http/operations/mount.ts'
import { numberTerms } from '../../http/operations/number-terms.ts'
import { createReaderDocument } from '../../http/query-workers/document.ts'
import type { Services } from '../services/services.ts'
import { type OwnAnswers, topics } from './topics.ts'

/** The whole interface over one set of services. */
export function createApp(services: Services, options: ContextOptions = {}): AnyElysia {
  const context = createContext(services, options)
  const pages: UnknownPages = {}
  const corsOrigins = context.config.cors.origins
  const app: AnyElysia = createBase({ ...context, corsOrigins, pages })
  const own: OwnAnswers = {
    answer: request => app.handle(request),
    document: documentFor(app, context, options),
    pages,
  }
  addLate(
    app,
    topics.map(({ operations, below }) => ({
      below,
      add: () => mount(app, context, operations(context, own)),
    })),
    routes => context.names.learn(routes, () => app.routes),
  )
  answerForViewers(app, services)
  if (context.controls) noteRequests(app, context.controls)
  return app
}

/** The description of the interface: as it is shipped where that fits, else made. */
function documentFor(
  app: AnyElysia,
  { config, clock, ingest }: Context,
  { readers }: ContextOptions,
): () => Promise<string> {
  const settings = documentSettings(config)
  const makeHere = documentOf(app, settings)
  const makeDocument = readers
    ? createReaderDocument({ pool: readers, own: makeHere, now: clock.now, mark: ingest.mark })
    : makeHere
  return async () => (await shippedDocument(app, settings)) ?? (await makeDocument())
}

/** What the document says besides what the routes say of themselves. */
export const documentSettings = (config: Config) => ({
  ...documentOptions(config),
  numbers: numberTerms,
})

export type App = ReturnType<typeof createApp>

/** Where some series are not for everybody, each request is answered as whoever sends it sees them. */
function answerForViewers(app: AnyElysia, { catalogue, viewers }: Services) {
  const { fetch } = app
  Object.defineProperty(app, 'fetch', {
    configurable: true,
    value: (request: Request) =>
      catalogue.isRestricted ? viewers.request(() => fetch(request)) : fetch(request),
  })
}

/** Only an evaluation copy keeps what it was asked. */
function noteRequests(app: AnyElysia, { requests }: Pick<DevControls, 'requests'>) {
  const { fetch } = app
  Object.defineProperty(app, 'fetch', { configurable: true, value: requests.noting(fetch) })
}
