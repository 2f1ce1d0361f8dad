/**
 * Renders the part of Go templates that the Helm chart uses: `if`, `range`, and pipelines of
 * values, strings, `default`, `quote`, `toJson`, `toYaml`, `nindent` and `sha256sum`. It does not
 * replace Helm: the test that runs `helm template` is skipped where Helm is not installed.
 */
type Scope = Readonly<Record<string, unknown>>

interface Node {
  kind: 'text' | 'value' | 'if' | 'range'
  text: string
  children: Node[]
}

const action = /\s*\{\{-([\s\S]*?)\}\}|\{\{([^-][\s\S]*?)\}\}/g

function parsed(template: string): Node[] {
  const root: Node = { kind: 'text', text: '', children: [] }
  const open: Node[] = [root]
  const add = (node: Node) => open.at(-1)!.children.push(node)
  let place = 0
  for (const match of template.matchAll(action)) {
    add({ kind: 'text', text: template.slice(place, match.index), children: [] })
    place = match.index + match[0].length
    const text = (match[1] ?? match[2]!).trim()
    if (text === 'end') {
      open.pop()
      continue
    }
    const [, word, rest] = /^(if|range) (.*)$/.exec(text) ?? []
    const node: Node = {
      kind: (word as 'if' | 'range' | undefined) ?? 'value',
      text: rest ?? text,
      children: [],
    }
    add(node)
    if (word !== undefined) open.push(node)
  }
  add({ kind: 'text', text: template.slice(place), children: [] })
  if (open.length !== 1) throw new Error('A block of the template has no end.')
  return root.children
}

const yamlOf = (value: unknown, indentation = ''): string =>
  Object.entries(value as Scope)
    .map(([name, part]) =>
      typeof part === 'object' && part !== null
        ? `${indentation}${name}:\n${yamlOf(part, `${indentation}  `)}`
        : `${indentation}${name}: ${JSON.stringify(part)}`,
    )
    .join('\n')

function lookup(path: string, scope: Scope): unknown {
  if (path.startsWith('"')) return JSON.parse(path)
  const names = path.replace(/^[.$]/, '').split('.')
  const start: unknown = path.startsWith('$') ? scope[`$${names.shift()}`] : scope
  return names.reduce<unknown>((value, name) => {
    const part = (value as Scope | undefined)?.[name]
    if (part === undefined) throw new Error(`${path} is not in the values`)
    return part
  }, start)
}

const functions: Readonly<Record<string, (value: unknown, argument: unknown) => unknown>> = {
  default: (value, argument) => value || argument,
  quote: value => JSON.stringify(String(value)),
  toJson: value => JSON.stringify(value),
  toYaml: value => yamlOf(value),
  nindent: (value, argument) =>
    `\n${String(value).replaceAll(/^/gm, ' '.repeat(Number(argument)))}`,
  sha256sum: value => new Bun.CryptoHasher('sha256').update(String(value)).digest('hex'),
}

function evaluated(pipeline: string, scope: Scope): unknown {
  const [first = '', ...rest] = pipeline.split('|').map(part => part.trim())
  return rest.reduce(
    (value, part) => {
      const [name = '', argument] = part.split(/\s+/)
      const apply = functions[name]
      if (!apply) throw new Error(`The function ${name} is not one of these tests'.`)
      const given =
        argument === undefined || /^\d+$/.test(argument) ? argument : lookup(argument, scope)
      return apply(value, given)
    },
    lookup(first, scope),
  )
}

function written(nodes: readonly Node[], scope: Scope): string {
  return nodes
    .map(({ kind, text, children }): string => {
      if (kind === 'text') return text
      if (kind === 'value') return String(evaluated(text, scope))
      if (kind === 'if') return evaluated(text, scope) ? written(children, scope) : ''
      const [, key = '', value = '', list = ''] = /^(\$\w+), (\$\w+) := (.*)$/.exec(text) ?? []
      return Object.entries(evaluated(list, scope) as Scope)
        .map(([name, part]) => written(children, { ...scope, [key]: name, [value]: part }))
        .join('')
    })
    .join('')
}

export const renderTemplate = (template: string, scope: Scope): string =>
  written(parsed(template), scope)
