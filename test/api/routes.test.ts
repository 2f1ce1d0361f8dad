import { describe, expect, test } from 'bun:test'
import type { InternalRoute } from 'elysia'
import { house } from '../house.ts'

const app = house().app
const routes = (app.routes as InternalRoute[]).filter(route => ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].includes(route.method))
const nameOf = (route: InternalRoute) => `${route.method} ${route.path}`

describe('every route', () => {
  for (const route of routes) {
    const hooks = route.hooks as { access?: unknown; response?: unknown; detail?: Record<string, unknown> }
    test(`${nameOf(route)} says who may call it and what it answers`, () => {
      const { detail } = hooks
      expect(detail?.security, 'access').toBeDefined()
      if (detail?.hide === true) return
      expect(detail?.operationId, 'operationId').toBeString()
      expect(detail?.summary, 'summary').toBeString()
      expect(detail?.description, 'description').toBeString()
      expect(detail?.tags, 'tags').toBeArray()
      expect(hooks.response, 'response schemas').toBeDefined()
    })
  }

  test('stands once: none overwrites another', () => {
    const names = routes.map(nameOf)
    expect(names.length).toBe(new Set(names).size)
  })

  test('has an operation of its own in the document', () => {
    const ids = routes.map(route => (route.hooks as { detail?: { operationId?: string } }).detail?.operationId).filter(Boolean)
    expect(ids.length).toBe(new Set(ids).size)
  })
})
