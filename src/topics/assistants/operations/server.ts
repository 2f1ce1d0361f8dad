import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { AnyObjectSchema } from '@modelcontextprotocol/sdk/server/zod-compat.js'
import {
  CallToolRequestSchema,
  type CompleteRequest,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { TSchema } from '@sinclair/typebox'
import type { Commodity } from '../../../http/operations/commodities/row.ts'
import { version } from '../../../version.ts'
import { alertTools } from './alert-tools.ts'
import { dataPathsOf, marketTools } from './market-tools.ts'
import { priceTools } from './price-tools.ts'
import { type Ask, Refusal, type Tool } from './tool.ts'

export const tools: readonly Tool[] = [...priceTools, ...marketTools, ...alertTools]

const instructions = `Energy prices with their history. Codes are of the form BRENT_CRUDE_USD: find them with search_codes before anything else. For data that no other tool covers, find the path with find_paths and open it with read. Always state the time, unit and currency of a price. If source_description says that data is generated, say so.`

interface Resource {
  uri: string
  name: string
  description: string
  mimeType: string
  read(ask: Ask): Promise<string>
}

const resources: readonly Resource[] = [
  {
    uri: 'wellhead://catalogue',
    name: 'Catalogue',
    description: 'Every code that has data, by category: code and name.',
    mimeType: 'text/markdown',
    async read(ask) {
      const { data } = await ask<{ data: Commodity[] }>('GET', '/v1/commodities')
      const categories = Map.groupBy(data, row => row.category_name)
      const parts = [...categories].map(([category, rows]) =>
        [`## ${category}`, ...rows.map(({ code, name }) => `- ${code}: ${name}`)].join('\n'),
      )
      return parts.join('\n\n')
    },
  },
  {
    uri: 'wellhead://usage',
    name: 'Usage',
    description: 'Quota usage of the key, and when the quota resets.',
    mimeType: 'application/json',
    read: async ask => JSON.stringify(await ask('GET', '/v1/usage')),
  },
  {
    uri: 'wellhead://paths',
    name: 'Data paths',
    description: 'Paths that the tool read opens, with their parameters.',
    mimeType: 'text/plain',
    async read(ask) {
      const paths = await dataPathsOf(ask)
      return paths
        .map(({ path, summary, parameters }) => `${path}: ${summary} (${parameters.join(', ')})`)
        .join('\n')
    },
  },
]

/** The resource of each code. */
const priceTemplate = {
  uriTemplate: 'wellhead://prices/{code}',
  name: 'Latest price',
  description: 'The newest price of a code, with its time, unit, currency and changes.',
  mimeType: 'application/json',
}

/** The resource of an address; undefined: there is none. */
function resourceOf(uri: string): Pick<Resource, 'uri' | 'mimeType' | 'read'> | undefined {
  const [, code] = /^wellhead:\/\/prices\/((?:[^/%]|%[0-7][\da-f])+)$/i.exec(uri) ?? []
  if (code === undefined) return resources.find(resource => resource.uri === uri)
  const query = { by_code: decodeURIComponent(code) }
  const read = async (ask: Ask) => JSON.stringify(await ask('GET', '/v1/prices/latest', { query }))
  return { uri, mimeType: priceTemplate.mimeType, read }
}

/** An error of the protocol with the text as it is; the SDK's class begins it with the number. */
const protocolError = (code: number, message: string, data?: unknown): McpError =>
  Object.assign(new McpError(code, message, data), { message })

/** The protocol's number for a resource that does not exist; the SDK has no name for it. */
const resourceNotFound = -32_002
const noResource = (uri: string, reason = `There is no ${uri}.`) =>
  protocolError(resourceNotFound, reason, { uri })
/** Statuses with which the API refuses a code that it does not have, or that has no price. */
const unknownStatuses = [400, 404]

/** The most values of a completion, by the protocol. */
const completedMax = 100

/** The codes that begin with a text, or whose name contains it. */
async function codesLike(ask: Ask, text: string): Promise<string[]> {
  const { data } = await ask<{ data: Commodity[] }>('GET', '/v1/commodities', {
    query: { q: text || undefined },
  })
  const isBegun = ({ code }: Commodity) => code.startsWith(text.toUpperCase())
  return [...data.filter(isBegun), ...data.filter(row => !isBegun(row))].map(({ code }) => code)
}

interface Prompt {
  name: string
  description: string
  arguments: { name: string; description: string; required: boolean }[]
  text(values: Readonly<Record<string, string>>): string
}

const prompts: readonly Prompt[] = [
  {
    name: 'morning_brief',
    description: 'A morning market brief.',
    arguments: [
      {
        name: 'codes',
        description: 'Comma-separated codes; absent: Brent, WTI, gas.',
        required: false,
      },
    ],
    text: ({ codes = 'BRENT_CRUDE_USD,WTI_USD,NATURAL_GAS_USD' }) =>
      `Write a brief of at most ten lines on ${codes}: the latest prices with their changes (latest_prices), the shape of the Brent curve (futures_curve), stocks at Cushing against their season (storage), and for whatever moved more than two percent the reason (why_did_it_move). Name times and units.`,
  },
  {
    name: 'explain_move',
    description: 'Why a price moved.',
    arguments: [{ name: 'code', description: 'A code, such as WTI_USD.', required: true }],
    text: ({ code = '' }) =>
      `Explain the recent moves of ${code}: call why_did_it_move, compare it with related codes (search_codes, compare), and separate facts from your conclusions.`,
  },
]

/** Refuses parameters that do not fit a method. */
function invalidParams({
  error,
}: {
  error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] }
}): never {
  const faults = error.issues.map(
    ({ path, message }) => `${path.join('.') || 'params'}: ${message}`,
  )
  throw protocolError(ErrorCode.InvalidParams, `${faults.join('; ')}.`)
}

/** Checks the parameters of every method; the SDK would report an internal error for wrong ones. */
class CheckingServer extends Server {
  override setRequestHandler<Schema extends AnyObjectSchema>(
    schema: Schema,
    handler: Parameters<typeof Server.prototype.setRequestHandler<Schema>>[1],
  ): void {
    const { shape, extend } = schema as Schema &
      Pick<typeof CallToolRequestSchema, 'shape' | 'extend'>
    const checked = extend({ params: shape.params.catch(invalidParams) })
    super.setRequestHandler(checked as AnyObjectSchema as Schema, handler)
  }
}

/** A list that has one page: no cursor leads to another. */
const onePage =
  <Page>(page: Page) =>
  ({
    params: { cursor = '' } = {},
  }: {
    params?: { cursor?: string | undefined } | undefined
  }): Page => {
    if (cursor === '') return page
    throw protocolError(ErrorCode.InvalidParams, `There is no page at cursor ${cursor}.`)
  }

/** The prompt of this name. */
function promptOf(name: string): Prompt {
  const prompt = prompts.find(prompt => prompt.name === name)
  if (!prompt) throw protocolError(ErrorCode.InvalidParams, `There is no prompt ${name}.`)
  return prompt
}

/** Refuses to complete what neither a prompt nor a resource has. */
function checkCompleted({ ref, argument: { name } }: CompleteRequest['params']): void {
  const [whole, names] =
    ref.type === 'ref/prompt'
      ? [`prompt ${ref.name}`, promptOf(ref.name).arguments.map(argument => argument.name)]
      : [`resource ${ref.uri}`, ref.uri === priceTemplate.uriTemplate ? ['code'] : []]
  if (!names.includes(name))
    throw protocolError(ErrorCode.InvalidParams, `The ${whole} has no argument ${name}.`)
}

/** A choice of words as an enumeration: few programs read one of constants. */
function describedArgument({ anyOf, ...schema }: TSchema): object {
  const words = (anyOf as { const?: string }[] | undefined)?.flatMap(
    ({ const: word }) => word ?? [],
  )
  return words?.length
    ? { type: 'string', enum: words, ...schema }
    : { ...schema, ...(anyOf && { anyOf }) }
}

/** A tool as programs see it: an argument with a default need not be given. */
function describedTool({ name, title, description, input, writes }: Tool) {
  const required = input.required?.filter(field => input.properties[field]?.default === undefined)
  const properties = Object.fromEntries(
    Object.entries(input.properties).map(([name, schema]) => [name, describedArgument(schema)]),
  )
  return {
    name,
    title,
    description,
    inputSchema: { ...input, properties, required, type: 'object' as const },
    annotations: { title, readOnlyHint: !writes, destructiveHint: false },
  }
}

const textOf = (result: unknown) => [{ type: 'text' as const, text: JSON.stringify(result) }]

/**
 * A server of the Model Context Protocol over the API: tools, resources and prompts call the API
 * with the caller's own key, and count and are refused as the caller's own requests.
 */
export function createMcpServer(ask: Ask, serviceName: string): Server {
  const server = new CheckingServer(
    { name: serviceName.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'), title: serviceName, version },
    {
      // Programs set a level over HTTP too, where one response a request leaves no room for messages:
      // there a refusal is in the result of its tool alone.
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} },
      instructions,
    },
  )
  server.setRequestHandler(ListToolsRequestSchema, onePage({ tools: tools.map(describedTool) }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (!tool) throw protocolError(ErrorCode.InvalidParams, `There is no tool ${params.name}.`)
    try {
      return { content: textOf(await tool.run(params.arguments, ask)) }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const data = { tool: tool.name, refusal: error.message }
      await server.sendLoggingMessage({ level: 'warning', logger: 'tools', data })
      return { isError: true, content: [{ type: 'text' as const, text: error.message }] }
    }
  })
  server.setRequestHandler(
    ListResourcesRequestSchema,
    onePage({ resources: resources.map(({ read, ...resource }) => resource) }),
  )
  server.setRequestHandler(
    ListResourceTemplatesRequestSchema,
    onePage({ resourceTemplates: [priceTemplate] }),
  )
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params }) => {
    const resource = resourceOf(params.uri)
    if (!resource) throw noResource(params.uri)
    const { uri, mimeType } = resource
    try {
      return { contents: [{ uri, mimeType, text: await resource.read(ask) }] }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (error.code === 'too_many_codes')
        throw protocolError(ErrorCode.InvalidParams, error.message)
      throw unknownStatuses.includes(error.status ?? 0) ? noResource(uri, error.message) : error
    }
  })
  // Prompts and resources take codes only: one, or several with commas.
  server.setRequestHandler(CompleteRequestSchema, async ({ params }) => {
    checkCompleted(params)
    const [, before = '', begun = ''] = /^(?:(.*,))?([^,]*)$/.exec(params.argument.value) ?? []
    const found = await codesLike(ask, begun.trim())
    const values = found.slice(0, completedMax).map(code => before + code)
    return {
      completion: { values, total: found.length, hasMore: found.length > values.length },
    }
  })
  server.setRequestHandler(
    ListPromptsRequestSchema,
    onePage({ prompts: prompts.map(({ text, ...prompt }) => prompt) }),
  )
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = promptOf(params.name)
    const values = params.arguments ?? {}
    for (const { name, required } of prompt.arguments) {
      if (required && !values[name]) {
        throw protocolError(ErrorCode.InvalidParams, `The prompt ${prompt.name} needs ${name}.`)
      }
    }
    const content = { type: 'text' as const, text: prompt.text(values) }
    return { description: prompt.description, messages: [{ role: 'user' as const, content }] }
  })
  return server
}
