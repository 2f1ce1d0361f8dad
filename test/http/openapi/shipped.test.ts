import { describe, expect, test } from 'bun:test'
import { appOf, documentIn } from '../../../scripts/document.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { documentToShip, shippedDocument } from '../../../src/http/openapi/shipped.ts'
import { documentSettings } from '../../../src/instance/app/app.ts'

const configOf = (flags: Record<string, string>, mode: 'serve' | 'dev' = 'serve') =>
  loadConfig({ mode, flags, env: {}, files: { directory: '/' }, readFile: () => undefined })

describe('the shipped document', () => {
  const config = configOf({})
  const app = appOf(config)
  const settings = documentSettings(config)

  test('is answered where routes and settings are those it was made of', async () => {
    const text = await documentIn(app)
    const shipped = await documentToShip(text, app, settings)
    expect(await shippedDocument(app, settings, shipped)).toBe(text)
    const evaluation = configOf({}, 'dev')
    const settingsThen = documentSettings(evaluation)
    expect(await shippedDocument(appOf(evaluation), settingsThen, shipped)).toBe(text)
  })

  test('is returned regardless of earlier requests', async () => {
    const asked = appOf(config)
    const shipped = await documentToShip(await documentIn(app), app, settings)
    const paths = asked.routes.filter(({ method }) => method === 'GET').map(({ path }) => path)
    for (const path of paths) await asked.handle(new Request(`http://localhost${path}`))
    expect(await shippedDocument(asked, settings, shipped)).toBeString()
  })

  test.each([
    ['brand.header_prefix', 'X-Desk-'],
    ['brand.service_name', 'Desk'],
    ['server.base_url', 'https://prices.example.com'],
  ])('is not answered with another %s', async (name, value) => {
    const other = configOf({ [name]: value })
    const shipped = await documentToShip('{}', app, settings)
    expect(await shippedDocument(appOf(other), documentSettings(other), shipped)).toBeUndefined()
  })

  test('no shipped OpenAPI document is used when the program runs from source', async () => {
    expect(await shippedDocument(app, settings)).toBeUndefined()
  })
})
