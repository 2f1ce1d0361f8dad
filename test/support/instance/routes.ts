import { Value } from '@sinclair/typebox/value'
import { Elysia, type InternalRoute, type TSchema, t } from 'elysia'
import { createBase } from '../../../src/http/base.ts'
import { type AccessPlugin, createAccess } from '../../../src/http/gate/access.ts'
import { trustedProxies } from '../../../src/http/gate/address.ts'
import { createGate } from '../../../src/http/gate/gate.ts'
import { createRateTables } from '../../../src/http/gate/rates.ts'
import { createCodeReader } from '../../../src/http/input/codes.ts'
import { createIgnoredParameters } from '../../../src/http/input/ignored-parameters.ts'
import { createKnownNames } from '../../../src/http/input/known-names.ts'
import type { Context } from '../../../src/http/operations/context.ts'
import { mount } from '../../../src/http/operations/mount.ts'
import { linker } from '../../../src/http/problem/links.ts'
import { unswitched } from '../../../src/http/profiles/profiles.ts'
import { batchOperations } from '../../../src/topics/prices/operations/batch.ts'
import { convertOperations } from '../../../src/topics/prices/operations/convert.ts'
import { latestOperations } from '../../../src/topics/prices/operations/latest.ts'
import { metricsOperations } from '../../../src/topics/prices/operations/metrics.ts'
import { widgetOperations } from '../../../src/topics/prices/operations/widgets.ts'
import { createFx } from '../../../src/topics/prices/service/fx.ts'
import { excelOperations } from '../../../src/topics/spreadsheet/operations/excel.ts'
import { createTableSource } from '../../../src/topics/spreadsheet/operations/run.ts'
import { answersOf } from '../interface/shape.ts'
import { openTestInstance, type TestInstance } from './instance.ts'

export interface RouteInstance extends TestInstance {
  /**
   * Whether a body is what the route documents for 200, also where the handler wrote the text
   * itself.
   */
  documented(path: string, body: unknown): boolean
}

/**
 * An instance of which only the routes under test stand, with a few data paths that differ in what they
 * cost.
 */
export function openRoutes(flags: Record<string, string> = {}): RouteInstance {
  const whole = openTestInstance(flags)
  const { services } = whole
  const {
    config,
    clock,
    ids,
    log,
    keys,
    meter,
    plans,
    limits,
    adminTokens,
    catalogue,
    latestPrices,
    history,
    closes,
    pricesAt,
  } = services
  const links = linker(config)
  const door = createGate({
    keys,
    meter,
    plans,
    rates: createRateTables(limits, 1),
    adminTokens,
    audit: services.audit,
    sessions: services.sessions,
    clock,
    isOverloaded: () => false,
    freshSignInMs: 0,
    trusted: trustedProxies([]),
    local: new WeakSet(),
    links,
  })
  const access = createAccess(door, null)
  const now = clock.now
  const codes = createCodeReader(catalogue, now, limits.codesPerRequestMax, links)
  const marks = { fixtureHeader: `${config.brand.headerPrefix}Data` }
  const exchange = createFx(catalogue, latestPrices)
  const shared = {
    switched: unswitched,
    access,
    latestPrices,
    catalogue,
    codes,
    meter,
    marks,
    now,
    exchange,
    history,
    closes,
    pricesAt,
    futuresAt: services.futuresAt,
    fundamentalsAt: services.fundamentalsAt,
    analyticsAt: services.analyticsAt,
    drillingAt: services.drillingAt,
    firstCodes: config.demo.codes,
    serviceName: config.brand.serviceName,
    ignoredParameters: createIgnoredParameters(createKnownNames(), 'X-Service-'),
  }
  const app = createBase({
    access,
    gate: door,
    ids,
    log,
    links,
    corsOrigins: config.cors.origins,
  }).use(dataPaths(access))
  mount(app, shared as unknown as Context, [
    ...latestOperations(shared as unknown as Context),
    ...batchOperations(shared as unknown as Context),
    ...widgetOperations,
    ...metricsOperations,
    ...convertOperations,
    ...excelOperations({
      ...(shared as unknown as Context),
      ids,
      codesMax: limits.codesPerRequestMax,
      xmlRoot: config.brand.xmlRoot,
      source: createTableSource({
        ...(shared as unknown as Context),
        ids,
        dispatch: (request, caller): Promise<Response> => {
          door.vouch(request, caller)
          return app.handle(request)
        },
      }),
    }),
  ])
  const call = (
    method: string,
    path: string,
    token: string | undefined,
    headers: Record<string, string>,
    body?: string,
  ) =>
    app.handle(
      new Request(`http://localhost${path}`, {
        method,
        headers: { ...(token && { authorization: `Token ${token}` }), ...headers },
        ...(body !== undefined && { body }),
      }),
    )
  return {
    ...whole,
    get: (path, token, headers = {}) => call('GET', path, token, headers),
    send: (method, path, body, token, headers = {}) =>
      call(
        method,
        path,
        token,
        { 'content-type': 'application/json', ...headers },
        typeof body === 'string' ? body : JSON.stringify(body),
      ),
    documented(path, body) {
      const route = (app.routes as InternalRoute[]).find(route => route.path === path)!
      const shape = answersOf(route)[200]!
      return Value.Check((shape['x-serialised'] as TSchema | undefined) ?? shape, body)
    },
  }
}

/**
 * Paths with answers that no price gives: of a feature, of a rate window, with any rows, with none.
 */
function dataPaths(access: AccessPlugin) {
  return new Elysia()
    .use(access)
    .get('/v1/spreads/any', () => ({ status: 'success', data: [{ id: 'any', value: -1.5 }] }), {
      access: { meter: true, feature: 'calculated_metrics' },
    })
    .get('/v1/marine-any', () => ({ data: [] }), { access: { meter: true } })
    .get('/v1/marine-fuels/any', () => ({ data: [{ port: 'SGSIN' }] }), {
      access: { meter: true, rate: 'marine-historical' },
    })
    .get(
      '/v1/storage/any',
      ({ query }) => ({ status: 'success', data: JSON.parse(query.rows ?? '[]') }),
      {
        access: { meter: true },
        query: t.Object({ rows: t.Optional(t.String()) }),
      },
    )
    .get('/v1/status', () => 'plain', { access: { meter: false } })
    .get('/v1/rig-counts/fails', () => Promise.reject(new Error('secret text')), {
      access: { meter: true },
    })
}
