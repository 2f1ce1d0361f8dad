import { type TSchema, t } from 'elysia'
import { integer } from '../../../http/answer/integer.ts'
import { type PageRequest, pageOf, pageQuery } from '../../../http/input/page.ts'
import { FlatProblem, NestedProblem } from '../../../http/problem/shape.ts'
import type { Feature } from '../../../plans/tiers.ts'

/** The family stands under both, with the same handlers; only the first is in the documentation. */
export const energyPrefixes = ['/v1/ei', '/v1/dark_data'] as const
export type EnergyPrefix = (typeof energyPrefixes)[number]

/** Seconds for which a client may keep an answer: the families are published daily at most. */
const cacheTtlSeconds = 3600

export const EnergyMeta = {
  page: integer({ examples: [1] }),
  per_page: integer({ examples: [50] }),
  total_count: integer({ examples: [672] }),
  total_pages: integer({ examples: [14] }),
  api_version: t.Literal('v1'),
  tier_required: t.String({ examples: ['Reservoir Mastery'] }),
  cache_ttl: integer({
    description: 'Seconds for which the answer may be kept.',
    examples: [cacheTtlSeconds],
  }),
}

/** `{data, meta}` without a status, as the whole family answers. */
export const energyBody = <T extends TSchema>(data: T, title: string) =>
  t.Object({ data, meta: t.Object(EnergyMeta) }, { title })

export const energyRefusals = { 400: NestedProblem, 403: FlatProblem, 404: NestedProblem }

export const energyAccess = {
  feature: 'energy_intelligence' as Feature,
  meter: true,
  flat: true,
  reader: true,
} as const
export const energyHeavyAccess = { ...energyAccess, heavy: true } as const

export const energyPageQuery = pageQuery(100, 50)
export const energyPageOf = (query: { page?: string; per_page?: string }): PageRequest =>
  pageOf(query, 100, 50)

/**
 * The meta object of a page of a list, or of a single object: one page of one. `tierRequired` is
 * the name of the lowest plan that has the family.
 */
export function energyMeta(
  tierRequired: string,
  total = 1,
  { page, perPage }: PageRequest = { page: 1, perPage: 1 },
) {
  return {
    page,
    per_page: perPage,
    total_count: total,
    total_pages: Math.ceil(total / perPage),
    api_version: 'v1' as const,
    tier_required: tierRequired,
    cache_ttl: cacheTtlSeconds,
  }
}

/**
 * The documentation of a route that stands under both prefixes: the alias is left out of the
 * document.
 */
export const energyDetail = <
  D extends { operationId: string; summary: string; description: string },
>(
  prefix: EnergyPrefix,
  detail: D,
) => (prefix === energyPrefixes[0] ? { tags: ['Energy intelligence'], ...detail } : { hide: true })
