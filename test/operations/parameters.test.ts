import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../src/http/openapi/openapi.ts'
import type { DemoInstance } from '../support/instance/demo-instance.ts'
import {
  isExpected,
  openDemoInstance,
  prepare,
  type Step,
  send,
  stepsOf,
} from '../support/interface/examples.ts'

/** Parameters that mean something with another one only, which is sent with its example too. */
const companions: Readonly<Record<string, string>> = {
  latitude: 'longitude',
  longitude: 'latitude',
  lat: 'lng',
  lng: 'lat',
  roll_days: 'roll',
  to: 'date',
  as_of: 'by_code',
}
const companionValues: Readonly<Record<string, string>> = { roll: 'days_before' }

/** Parameters whose example is of data that a demo instance does not have. */
const withoutData: readonly string[] = [
  'GET /v1/delivery/{code}/evcc formula',
  'GET /admin/v1/export source',
  'GET /organizations/invitations/{id}/accept token',
]

interface Sent {
  step: Step
  name: string
  value: unknown
}

const usualValues = { boolean: true, integer: 1, number: 1, string: 'x' }

/** Each parameter of a query that may be left out, with its example. */
const sentOf = (step: Step): Sent[] =>
  (step.operation.parameters ?? [])
    .filter(({ name, in: place, required }) => {
      const isListed = withoutData.includes(`${step.name} ${name}`)
      return place === 'query' && !required && !isListed
    })
    .map(({ name, example, schema }) => {
      const { type = 'string', enum: words } = schema as {
        type?: keyof typeof usualValues
        enum?: unknown[]
      }
      return { step, name, value: example ?? words?.[0] ?? usualValues[type] }
    })

/** The operation with the parameter, and its companion, among those that have to be there. */
const required = ({ step, name, value }: Sent): Step => ({
  ...step,
  operation: {
    ...step.operation,
    parameters: step.operation.parameters!.map(parameter => {
      const isCompanion = parameter.name === companions[name] && parameter.in === 'query'
      if (parameter.name !== name && !isCompanion) return parameter
      const example = isCompanion ? (companionValues[parameter.name] ?? parameter.example) : value
      return { ...parameter, required: true, example }
    }),
  },
})

describe('every parameter of an operation that reads, one at a time with its example', () => {
  let copy: DemoInstance
  let steps: Step[]
  beforeAll(async () => {
    copy = openDemoInstance()
    const answer = await copy.ask('GET', '/openapi.json')
    steps = stepsOf((await answer.json()) as OpenApiDocument).filter(
      step => step.method === 'GET' && isExpected(step, 200),
    )
  })
  afterAll(() => copy.remove())

  test('every documented parameter of a reading operation is accepted with its example', async () => {
    const faults: string[] = []
    for (const step of steps) {
      const own = await prepare(copy, step)
      for (const sent of sentOf(step)) {
        const { status, text } = await send(copy, required(sent), own)
        if (status >= 400)
          faults.push(`${step.name} ${sent.name}=${sent.value} (${status}): ${text.slice(0, 200)}`)
      }
    }
    expect(faults).toEqual([])
  }, 280_000)

  test('is described, where its operation does not refuse every value of it', () => {
    const described = (path: string) =>
      steps.find(step => step.path === path)!.operation.parameters!.map(({ name }) => name)
    expect(described('/v1/prices/past_day')).toContain('at')
    expect(described('/v1/prices/past_week')).not.toContain('at')
    expect(described('/v1/ei/well-permits/search')).not.toContain('address')
    for (const name of withoutData) {
      const [, path, parameter] = name.split(' ')
      expect(described(path!).includes(parameter!), name).toBe(true)
    }
  })
})
