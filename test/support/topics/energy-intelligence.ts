import { expect } from 'bun:test'
import fc from 'fast-check'
import type { TestInstance } from '../instance/instance.ts'
import { json } from '../interface/shape.ts'

export interface EnergyMeta {
  page: number
  per_page: number
  total_count: number
  total_pages: number
  tier_required: string
}
export interface EnergyAnswer<T> {
  data: T
  meta: EnergyMeta
}

/**
 * Fails unless the pages of a list, of any size, are together the list as it is on one page:
 * nothing lost, nothing twice, in its order.
 */
export async function expectWholePages(
  instance: TestInstance,
  token: string,
  path: string,
  rowsOf: (body: { data: unknown }) => unknown[],
): Promise<void> {
  const at = (page: number, perPage: number) =>
    json<EnergyAnswer<unknown>>(
      instance.get(
        `${path}${path.includes('?') ? '&' : '?'}page=${page}&per_page=${perPage}`,
        token,
      ),
    )
  const onePage = await at(1, 100)
  const all = rowsOf(onePage)
  expect(all.length).toBe(onePage.meta.total_count)
  expect(all.length).toBeGreaterThan(3)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: all.length + 2 }), async perPage => {
      const rows: unknown[] = []
      for (let page = 1; page <= Math.ceil(all.length / perPage); page++)
        rows.push(...rowsOf(await at(page, perPage)))
      expect(rows).toEqual(all)
      expect(rowsOf(await at(Math.ceil(all.length / perPage) + 1, perPage))).toEqual([])
    }),
    { numRuns: 8 },
  )
}

/**
 * Fails unless exactly the plans with the feature are admitted, and all others get an error in the
 * flat shape that names a plan with it.
 */
export async function expectEntitled(instance: TestInstance, path: string): Promise<void> {
  for (const plan of ['professional', 'scale', 'enterprise'])
    expect((await instance.get(path, instance.key(plan))).status, plan).toBe(200)
  for (const plan of ['free', 'developer', 'starter']) {
    const response = await instance.get(path, instance.key(plan))
    const body = await json<Record<string, unknown>>(response)
    expect(response.status, plan).toBe(403)
    expect(body, plan).toMatchObject({
      error_code: 'INSUFFICIENT_PLAN',
      code: 'INSUFFICIENT_PLAN',
      status: 403,
      current_plan: plan,
      required_feature: 'energy_intelligence',
      required_tier: 'Reservoir Mastery',
      required_plan: 'professional',
    })
    expect(body.error).toBeString()
  }
}

/** Fails unless the alias of a path returns the same bytes. */
export async function expectAlias(
  instance: TestInstance,
  token: string,
  paths: readonly string[],
): Promise<void> {
  for (const path of paths) {
    const [own, alias] = await Promise.all([
      instance.get(path, token),
      instance.get(path.replace('/v1/ei/', '/v1/dark_data/'), token),
    ])
    expect(alias.status, path).toBe(own.status)
    const strip = async (response: Response) =>
      (await response.text())
        .replaceAll('/v1/dark_data/', '/v1/ei/')
        .replace(/"request_id":"[^"]*"/g, '')
    expect(await strip(alias), path).toBe(await strip(own))
  }
}
