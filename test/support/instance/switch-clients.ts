import { beforeAll } from 'bun:test'
import type { App } from '../../../src/instance/app/app.ts'
import { switchNames } from '../../../src/plans/clients/switches.ts'
import type { DemoInstance } from './demo-instance.ts'
import { clientsInstance, withProfiles } from './renamed-instance.ts'

export type Fields = Record<string, unknown>

export interface Answer {
  status: number
  text: string
  /** The JSON body. */
  body: Fields
  headers: Headers
}

/** A profile for each switch: a client gets it by naming it. */
export const eachSwitch = switchNames
  .map(
    name =>
      `[[client_profiles]]\nname = "${name}"\nmatch = { X-Client = "^${name}$" }\nswitches = ["${name}"]\n`,
  )
  .join('')

export interface Asked {
  method?: string
  body?: unknown
  headers?: Record<string, string>
  key?: string
  of?: App
}

/** An instance with a profile for each switch, and requests by clients that name one. */
export function switchClients() {
  let copy: DemoInstance
  let app: App
  beforeAll(() => {
    copy = clientsInstance()
    app = withProfiles(copy.running.services, eachSwitch)
  }, 240_000)

  async function ask(
    path: string,
    client: string | undefined,
    { method = 'GET', body, headers = {}, key, of = app }: Asked = {},
  ) {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        authorization: `Token ${key ?? copy.apiKey}`,
        'x-request-id': 'r-1',
        ...(client !== undefined && { 'x-client': client }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const response = await of.handle(request)
    const text = await response.text()
    const isJson = text !== '' && response.headers.get('content-type')?.includes('json')
    return {
      status: response.status,
      text,
      body: isJson ? (JSON.parse(text) as Fields) : {},
      headers: response.headers,
    } as Answer
  }

  return { ask, copy: () => copy, app: () => app }
}

export const dataOf = ({ body }: Answer) => body.data as Fields
