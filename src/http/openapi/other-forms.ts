import { eventTypes } from '../../plans/messages/event-types.ts'
import type { OpenApiDocument } from './openapi.ts'
import { isRecord } from './schema.ts'

type Fields = Readonly<Record<string, unknown>>

/** Writes an exclusive bound as a number instead of as a flag of the bound. */
function withPlainBounds(schema: Fields): Fields {
  if (schema.exclusiveMinimum !== true) return schema
  const { minimum, ...rest } = schema
  return { ...rest, exclusiveMinimum: minimum }
}

/** A schema of OpenAPI 3.0 as JSON Schema, which OpenAPI 3.1 uses: null is a type. */
function withoutNullable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullable)
  if (!isRecord(value)) return value
  const { nullable, ...other } = value
  const rest = withPlainBounds(other)
  const fields: Fields = Object.fromEntries(
    Object.entries(rest).map(([name, item]) => [
      name,
      name === 'example' || name === 'examples' ? item : withoutNullable(item),
    ]),
  )
  if (nullable !== true) return isRecord(nullable) ? { ...fields, nullable } : fields
  if (typeof fields.type === 'string') return { ...fields, type: [fields.type, 'null'] }
  return Array.isArray(fields.enum) ? fields : { anyOf: [fields, { type: 'null' }] }
}

const envelopeOf = (type: string): Fields => ({
  type: 'object',
  required: ['id', 'type', 'event', 'created_at', 'data'],
  properties: {
    id: { type: 'string', description: 'Event id; repeated deliveries have the same one.' },
    type: { type: 'string', enum: [type] },
    event: { type: 'string', enum: [type], description: 'The same as `type`.' },
    created_at: { type: 'string', format: 'date-time' },
    data: { type: 'object', description: 'The fields of the event.', additionalProperties: true },
  },
})

const nameOf = (type: string): string =>
  type.replace(/[._](\w)/g, (_, first) => first.toUpperCase())

/** The document as OpenAPI 3.1, with the webhooks that are sent. */
export function openApi31(document: OpenApiDocument, headerPrefix: string): Fields {
  const header = (name: string, description: string) => ({
    name: `${headerPrefix}${name}`,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  })
  const webhooks = eventTypes.map(type => [
    type,
    {
      post: {
        operationId: `on${nameOf(`.${type}`)}`,
        summary: `Receive ${type}`,
        description: 'Sent to every webhook endpoint that subscribes to this type of event.',
        tags: ['Webhooks'],
        security: [],
        parameters: [
          header('Event', 'Type of the event.'),
          header('Event-ID', 'Id of the event.'),
          header('Signature', 'Hexadecimal HMAC-SHA256 of the body, a dot and the timestamp.'),
          header('Signature-Timestamp', 'Unix seconds.'),
        ],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: envelopeOf(type) } },
        },
        responses: {
          '2XX': { description: 'The event was received.' },
          '4XX': { description: 'The event is not sent again.' },
          '5XX': { description: 'The event is sent again later.' },
        },
      },
    },
  ])
  const converted = withoutNullable(document) as Fields
  return {
    ...converted,
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base',
    webhooks: Object.fromEntries(webhooks),
  }
}

/** The AsyncAPI 3.0 document of webhooks, the event stream and the cable. */
export function asyncApi({ info, servers }: OpenApiDocument): Fields {
  const { host, protocol, pathname } = new URL(servers[0]?.url ?? '/', 'http://localhost')
  const messages = Object.fromEntries(
    eventTypes.map(type => [
      nameOf(type),
      { name: type, contentType: 'application/json', payload: envelopeOf(type) },
    ]),
  )
  const everyMessage = Object.fromEntries(
    Object.keys(messages).map(name => [name, { $ref: `#/components/messages/${name}` }]),
  )
  const channel = (address: string | null, description: string) => ({
    address,
    description,
    messages: everyMessage,
  })
  const sending = (name: string, summary: string, description: string) => ({
    action: 'send',
    channel: { $ref: `#/channels/${name}` },
    summary,
    description,
  })
  return {
    asyncapi: '3.0.0',
    info: {
      ...info,
      description: 'Events that are pushed.',
      tags: [{ name: 'Webhooks' }, { name: 'Watches and streams' }],
    },
    servers: {
      api: { host, protocol: protocol.slice(0, -1), ...(pathname !== '/' && { pathname }) },
    },
    channels: {
      webhooks: channel(null, 'POST requests to the URL of each webhook endpoint.'),
      stream: channel('/v1/stream', 'Server-sent events; `Last-Event-ID` continues a stream.'),
      cable: {
        address: '/cable',
        description: 'A WebSocket in the Action Cable protocol, with prices as they change.',
        messages: {
          priceUpdate: {
            name: 'price_update',
            contentType: 'application/json',
            payload: { type: 'object', additionalProperties: true },
          },
        },
      },
    },
    operations: {
      sendWebhook: sending(
        'webhooks',
        'Send an event to a webhook endpoint',
        'Every endpoint gets the types of event that it subscribes to, signed and sent again until it accepts them.',
      ),
      sendEvent: sending(
        'stream',
        'Send an event to an open stream',
        'The events of the account and its prices, each with the id from which a stream continues.',
      ),
      sendPrices: sending(
        'cable',
        'Send changed prices',
        'The prices of the subscribed channel, whenever one of them changes.',
      ),
    },
    components: { messages },
  }
}
