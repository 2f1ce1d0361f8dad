import {
  type Document,
  type Operation,
  operationsOf,
  type Parameter,
  resolved,
  rowSchema,
  type Schema,
} from './operations.ts'

const keywords = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
)

const columnsMax = 118

const pascal = (text: string) =>
  text.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
const snake = (text: string) =>
  text
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/_$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
const identifier = (text: string) => (keywords.has(text) ? `${text}_` : text)
const literal = (value: unknown) =>
  typeof value === 'string'
    ? JSON.stringify(value)
    : value === null
      ? 'None'
      : value === true
        ? 'True'
        : value === false
          ? 'False'
          : String(value)

/** Text for a docstring, wrapped. */
function prose(text: string, indent: string): string[] {
  const lines: string[] = []
  for (const paragraph of text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").split('\n')) {
    let line = ''
    for (const word of paragraph.split(' ')) {
      if (line !== '' && indent.length + line.length + 1 + word.length > columnsMax) {
        lines.push(line)
        line = word
      } else line = line === '' ? word : `${line} ${word}`
    }
    lines.push(line)
  }
  return lines.map(line => (line === '' ? '' : `${indent}${line}`))
}

/** Python types of schemas; every object with fields becomes a TypedDict of the module `models`. */
class Models {
  private readonly definitions = new Map<string, string>()
  private readonly byShape = new Map<string, string>()

  constructor(document: Document) {
    for (const name of Object.keys(document.components.schemas)) this.definitions.set(name, '')
    for (const [name, schema] of Object.entries(document.components.schemas))
      this.define(name, schema)
  }

  names(): string[] {
    return [...this.definitions.keys()]
  }

  typeOf(schema: Schema | undefined, hint: string): string {
    if (schema === undefined) return 'Any'
    const type = this.plainType(schema, hint)
    return schema.nullable && type !== 'Any' && type !== 'None' ? `${type} | None` : type
  }

  private plainType(schema: Schema, hint: string): string {
    if (schema.$ref) return schema.$ref.split('/').at(-1)!
    if (schema.allOf) return this.typeOf(schema.allOf[0], hint)
    const choices = schema.anyOf ?? schema.oneOf
    if (choices) return [...new Set(choices.map(choice => this.typeOf(choice, hint)))].join(' | ')
    if (schema.enum)
      return `Literal[${schema.enum
        .filter(value => value !== null)
        .map(literal)
        .join(', ')}]`
    if (schema.type === 'string') return 'str'
    if (schema.type === 'integer') return 'int'
    if (schema.type === 'number') return 'float'
    if (schema.type === 'boolean') return 'bool'
    if (schema.type === 'null') return 'None'
    if (schema.type === 'array') return `list[${this.typeOf(schema.items, `${hint}Item`)}]`
    if (schema.properties && Object.keys(schema.properties).length > 0)
      return this.named(hint, schema)
    if (schema.type === 'object') {
      const values = schema.additionalProperties
      return `dict[str, ${typeof values === 'object' ? this.typeOf(values, `${hint}Value`) : 'Any'}]`
    }
    return 'Any'
  }

  private named(hint: string, schema: Schema): string {
    const shape = JSON.stringify({ properties: schema.properties, required: schema.required })
    const earlier = this.byShape.get(shape)
    if (earlier !== undefined) return earlier
    let name = hint
    for (let number = 2; this.definitions.has(name); number += 1) name = `${hint}${number}`
    this.byShape.set(shape, name)
    this.definitions.set(name, '')
    this.define(name, schema)
    return name
  }

  private define(name: string, schema: Schema): void {
    if (!schema.properties || schema.anyOf) {
      this.definitions.set(
        name,
        `${name}: TypeAlias = ${JSON.stringify(this.typeOf(schema, `${name}Choice`))}`,
      )
      return
    }
    const required = new Set(schema.required)
    const fields = Object.entries(schema.properties).map(([key, property]) => {
      const type = this.typeOf(property, `${name}${pascal(key)}`)
      return {
        key,
        type: required.has(key) ? type : `NotRequired[${type}]`,
        description: property.description,
      }
    })
    const isPlain = fields.every(({ key }) => /^[A-Za-z_]\w*$/.test(key) && !keywords.has(key))
    if (!isPlain) {
      const entries = fields.map(
        ({ key, type }) => `        ${JSON.stringify(key)}: ${JSON.stringify(type)},`,
      )
      this.definitions.set(
        name,
        [
          `${name} = TypedDict(`,
          `    ${JSON.stringify(name)},`,
          '    {',
          ...entries,
          '    },',
          ')',
        ].join('\n'),
      )
      return
    }
    const lines = fields.flatMap(({ key, type, description }) => [
      ...(description
        ? prose(`#: ${description.replaceAll('\n', ' ')}`, '    ').map((line, index) =>
            index === 0 ? line : line.replace(/^ {4}/, '    #: '),
          )
        : []),
      `    ${key}: ${type}`,
    ])
    this.definitions.set(
      name,
      [`class ${name}(TypedDict):`, ...(lines.length > 0 ? lines : ['    pass'])].join('\n'),
    )
  }

  text(): string {
    return [
      '"""What the service answers and takes. Written from its OpenAPI document: do not change it here."""',
      '',
      'from __future__ import annotations',
      '',
      'from typing import TYPE_CHECKING, Any, Literal, TypedDict',
      '',
      'if TYPE_CHECKING:',
      '    from typing_extensions import NotRequired, TypeAlias',
      '',
      '',
      [...this.definitions.values()].join('\n\n\n'),
      '',
    ].join('\n')
  }
}

interface Argument {
  python: string
  parameter: Parameter
}

const argumentsOf = (operation: Operation, place: Parameter['in']): Argument[] =>
  operation.parameters
    .filter(parameter => parameter.in === place)
    .map(parameter => ({ python: identifier(snake(parameter.name)), parameter }))

const wireHeader = (name: string) => name.replace(/(^|-)[a-z]/g, letter => letter.toUpperCase())

function bodyIsRequired(document: Document, schema: Schema): boolean {
  const plain = resolved(document, schema)
  const choices = plain.anyOf ?? plain.oneOf
  if (choices) return choices.every(choice => bodyIsRequired(document, choice))
  return (plain.required ?? []).length > 0
}

const mapping = (entries: readonly Argument[], wire: (name: string) => string = name => name) =>
  `{${entries.map(({ python, parameter }) => `${JSON.stringify(wire(parameter.name))}: ${python}`).join(', ')}}`

function docstring(operation: Operation, entries: readonly Argument[]): string[] {
  const described = entries.filter(({ parameter }) => parameter.description)
  const [first = '', ...rest] = prose(operation.summary.replace(/\.?$/, '.'), '        ')
  return [
    `        """${first.trimStart()}`,
    ...rest,
    ...(operation.description ? ['', ...prose(operation.description, '        ')] : []),
    '',
    ...prose(`\`${operation.method} ${operation.path}\``, '        '),
    ...(described.length > 0 ? [''] : []),
    ...described.flatMap(({ python, parameter }) =>
      prose(`:param ${python}: ${parameter.description!.replaceAll('\n', ' ')}`, '        '),
    ),
    '        """',
  ]
}

/** `getPricesPastDay` returns a page, `iter_prices_past_day` the rows of all pages. */
const iteratorName = (id: string) => `iter_${snake(id).replace(/^(get|list)_/, '')}`

/** A class with one method for each operation, and one more for each that answers pages. */
function operationsText(
  document: Document,
  operations: readonly Operation[],
  models: Models,
  isAsync: boolean,
): string {
  const className = isAsync ? 'AsyncOperations' : 'Operations'
  const caller = isAsync ? 'AsyncCaller' : 'Caller'
  const iterator = isAsync ? 'AsyncIterator' : 'Iterator'
  const methods: string[] = []
  for (const operation of operations) {
    const path = argumentsOf(operation, 'path')
    const query = argumentsOf(operation, 'query')
    const header = argumentsOf(operation, 'header')
    const hint = pascal(operation.id)
    const named = [...query, ...header]
    const answerType = operation.answer
      ? models.typeOf(operation.answer, `${hint}Answer`)
      : operation.media.length === 0
        ? 'None'
        : operation.media.some(media => media.includes('pdf'))
          ? 'bytes'
          : 'str'
    const body = operation.body && models.typeOf(operation.body, `${hint}Body`)
    const bodyArgument =
      body &&
      (bodyIsRequired(document, operation.body!) ? `body: ${body}` : `body: ${body} | None = None`)
    const signature = (withoutPaging: boolean) => {
      const keyword = named.filter(
        ({ parameter }) =>
          !withoutPaging || (parameter.name !== 'page' && parameter.name !== 'per_page'),
      )
      return [
        'self',
        ...path.map(({ python }) => `${python}: Value`),
        ...(bodyArgument ? [bodyArgument] : []),
        ...(keyword.length > 0
          ? ['*', ...keyword.map(({ python }) => `${python}: Value | None = None`)]
          : []),
      ].map(argument => `        ${argument},`)
    }
    const call = [
      `            ${JSON.stringify(operation.method)},`,
      `            ${JSON.stringify(operation.path)},`,
      ...(path.length > 0 ? [`            path=${mapping(path)},`] : []),
      ...(query.length > 0 ? [`            query=${mapping(query)},`] : []),
      ...(header.length > 0 ? [`            headers=${mapping(header, wireHeader)},`] : []),
      ...(body ? ['            body=body,'] : []),
      ...(operation.takesIdempotencyKey ? ['            takes_idempotency_key=True,'] : []),
    ]
    methods.push(
      [
        `    ${isAsync ? 'async ' : ''}def ${snake(operation.id)}(`,
        ...signature(false),
        `    ) -> ${answerType}:`,
        ...docstring(operation, [...path, ...named]),
        `        return ${isAsync ? 'await ' : ''}self._call(  # type: ignore[no-any-return]`,
        ...call,
        '        )',
      ].join('\n'),
    )
    if (operation.rows && operation.answer) {
      const row = models.typeOf(rowSchema(document, operation.answer, operation.rows), `${hint}Row`)
      const rest = query.filter(
        ({ parameter }) => parameter.name !== 'page' && parameter.name !== 'per_page',
      )
      methods.push(
        [
          `    def ${iteratorName(operation.id)}(`,
          ...signature(true),
          `    ) -> ${iterator}[${row}]:`,
          `        """The rows of all pages of \`${snake(operation.id)}\`, which see."""`,
          '        return self._rows(',
          `            ${JSON.stringify(operation.path)},`,
          `            ${JSON.stringify(operation.rows)},`,
          `            ${mapping(rest)},`,
          ...(path.length > 0 ? [`            ${mapping(path)},`] : []),
          '        )',
        ].join('\n'),
      )
    }
  }
  return [
    `"""Every operation of the service${isAsync ? ', for asyncio' : ''}. Written from its OpenAPI document: do not change it here."""`,
    '',
    'from __future__ import annotations',
    '',
    `from collections.abc import ${iterator}`,
    'from typing import Any, Literal',
    '',
    `from .caller import ${caller}`,
    'from .models import *',
    'from .transport import Value',
    '',
    '',
    `class ${className}(${caller}):`,
    '    """One method for each operation, named by its `operationId`."""',
    '',
    methods.join('\n\n'),
    '',
  ].join('\n')
}

/** The modules that are written from the document, by their file names. */
export function pythonModules(document: Document): Record<string, string> {
  const operations = operationsOf(document)
  const iterators = operations
    .filter(operation => operation.rows)
    .map(operation => iteratorName(operation.id))
  const repeated = iterators.find((name, index) => iterators.indexOf(name) !== index)
  if (repeated !== undefined) throw new Error(`two operations would be iterated by ${repeated}`)
  const models = new Models(document)
  const synchronous = operationsText(document, operations, models, false)
  const asynchronous = operationsText(document, operations, models, true)
  return {
    'models.py': models.text(),
    'operations.py': synchronous,
    'async_operations.py': asynchronous,
  }
}
