import {
  bodyOf,
  credentialOf,
  exampleOfParameter,
  headerName,
  isSampled,
  type Listed,
  listedOf,
  type OpenApi,
  type Parameter,
} from './document.ts'

/** A collection for a program that sends requests, as the file that it imports. */
export interface Collection {
  name: string
  text: string
}

interface Folder<T> {
  name: string
  items: T[]
}

/** The operations of the document by tag, each made into an item. */
const folders = <T>(document: OpenApi, item: (listed: Listed) => T): Folder<T>[] =>
  [...Map.groupBy(listedOf(document), ({ tag }) => tag)].map(([tag, listed]) => ({
    name: tag.replaceAll('_', ' '),
    items: listed.map(item),
  }))

/** A parameter that is not required is there, and off, so that it only has to be ticked. */
const filled = ({ operation }: Listed, place: Parameter['in']) =>
  (operation.parameters ?? [])
    .filter(parameter => parameter.in === place)
    .map(parameter => ({
      name: place === 'header' ? headerName(parameter.name) : parameter.name,
      value: exampleOfParameter(parameter),
      isOn: isSampled(parameter),
    }))

const addressOf = ({ path }: Listed): string => `{{baseUrl}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`

const fileOf = (document: OpenApi, suffix: string): string =>
  `${document.info.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.${suffix}.json`

const bearer = (variable: string) => ({
  type: 'bearer',
  bearer: [{ key: 'token', value: `{{${variable}}}`, type: 'string' }],
})

/** Requests with the key have the `auth` of the collection. */
function postmanAuth({ operation }: Listed) {
  const credential = credentialOf(operation)
  if (credential === 'apiKey') return {}
  return { auth: credential === undefined ? { type: 'noauth' } : bearer(credential) }
}

/** A Postman collection, format 2.1, with the address, the key and the admin token as variables. */
export function postmanCollection(document: OpenApi, baseUrl: string): Collection {
  const pairs = (listed: Listed, place: Parameter['in']) =>
    filled(listed, place).map(({ name, value, isOn }) => ({
      key: name,
      value,
      ...(!isOn && { disabled: true }),
    }))
  const collection = {
    info: {
      name: document.info.title,
      version: document.info.version,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: bearer('apiKey'),
    variable: [
      { key: 'baseUrl', value: baseUrl },
      { key: 'apiKey', value: '' },
      { key: 'adminToken', value: '' },
    ],
    item: folders(document, listed => {
      const query = pairs(listed, 'query')
      const sent = query.filter(({ disabled }) => !disabled)
      const raw = addressOf(listed)
      const body = bodyOf(listed.operation, document)
      return {
        name: listed.operation.summary,
        request: {
          method: listed.method,
          ...postmanAuth(listed),
          header: pairs(listed, 'header'),
          url: {
            raw: `${raw}${sent.length > 0 ? '?' : ''}${sent.map(({ key, value }) => `${key}=${value}`).join('&')}`,
            host: ['{{baseUrl}}'],
            path: raw.replace('{{baseUrl}}/', '').split('/'),
            query,
            variable: pairs(listed, 'path'),
          },
          ...(body !== undefined && {
            body: { mode: 'raw', raw: body, options: { raw: { language: 'json' } } },
          }),
        },
      }
    }).map(({ name, items }) => ({ name, item: items })),
  }
  return { name: fileOf(document, 'postman'), text: JSON.stringify(collection, null, 2) }
}

/** A Bruno collection, as Bruno exports and imports it, with an environment for the address and the key. */
export function brunoCollection(document: OpenApi, baseUrl: string): Collection {
  const rows = (listed: Listed, place: Parameter['in']) =>
    filled(listed, place).map(({ name, value, isOn }) => ({
      name,
      value,
      enabled: isOn,
      ...(place !== 'header' && { type: place }),
    }))
  const collection = {
    name: document.info.title,
    version: '1',
    items: folders(document, listed => {
      const body = bodyOf(listed.operation, document)
      const credential = credentialOf(listed.operation)
      return {
        type: 'http',
        name: listed.operation.summary,
        request: {
          method: listed.method,
          url: addressOf(listed),
          headers: rows(listed, 'header'),
          params: [...rows(listed, 'query'), ...rows(listed, 'path')],
          auth: credential
            ? { mode: 'bearer', bearer: { token: `{{${credential}}}` } }
            : { mode: 'none' },
          body: body === undefined ? { mode: 'none' } : { mode: 'json', json: body },
        },
      }
    }).map(folder => ({ type: 'folder', ...folder })),
    environments: [
      {
        name: new URL(baseUrl).host,
        variables: [
          { name: 'baseUrl', value: baseUrl, enabled: true, secret: false, type: 'text' },
          { name: 'apiKey', value: '', enabled: true, secret: true, type: 'text' },
          { name: 'adminToken', value: '', enabled: true, secret: true, type: 'text' },
        ],
      },
    ],
  }
  return { name: fileOf(document, 'bruno'), text: JSON.stringify(collection, null, 2) }
}
