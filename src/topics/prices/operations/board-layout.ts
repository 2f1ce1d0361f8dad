import { t } from 'elysia'
import { boolean, object, string } from '../../../http/answer/schema.ts'
import { body, field, readFields, text } from '../../../http/input/body-schema.ts'
import type { Form } from '../../../http/input/form.ts'
import { envelopeOf } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { FailProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { BoardGroup, BoardLayout } from '../store/board-layouts.ts'

/** As many as `GET /v1/prices/board` answers. */
const codesMax = 200
const groupsMax = 40
const nameMax = 60

const GroupShape = object('BoardGroup', {
  name: string('The heading of the group; empty: none.', 'Crude', { maxLength: nameMax }),
  codes: t.Array(t.String({ examples: ['WTI_USD'] }), {
    description: 'In the order in which they are shown.',
  }),
})

const LayoutAnswer = envelopeOf({
  groups: t.Array(GroupShape, { description: 'In the order in which they are shown.' }),
  is_own: boolean('False: nothing was saved yet, and these are the demo codes.'),
  updated_at: t.Union([t.String({ format: 'date-time' }), t.Null()], {
    description: 'When it was last saved; null if never.',
  }),
})

/** Notes what is wrong with the groups; codes come out as the catalogue writes them. */
function readGroups(form: Form, catalogue: Context['catalogue']): BoardGroup[] | undefined {
  const list = form.value('groups')
  if (list === undefined) return undefined
  if (!Array.isArray(list) || list.length > groupsMax)
    return form.fault('groups', `must be a list of at most ${groupsMax} groups.`)
  const items = form.items('groups')
  const taken = new Set<string>()
  const groups = list.map((_, i): BoardGroup => {
    const group = items.part(String(i))
    const { name = '', codes = [] } = readFields(groupFields(group, catalogue, taken), group)
    return { name: name.trim(), codes }
  })
  return taken.size <= codesMax
    ? groups
    : form.fault('groups', `must have at most ${codesMax} codes in total; got ${taken.size}.`)
}

const groupFields = (group: Form, catalogue: Context['catalogue'], taken: Set<string>) => ({
  name: text(nameMax),
  codes: field<string[]>(t.Array(t.String()), () => {
    const list = group.value('codes')
    if (!Array.isArray(list)) return group.fault('codes', 'must be a list of codes.')
    return list.flatMap((item, i) => {
      const series = typeof item === 'string' ? catalogue.named(item) : undefined
      if (!series) {
        const [near] = typeof item === 'string' ? catalogue.suggest(item.slice(0, 100)) : []
        const meant = near ? ` Did you mean ${near.code}?` : ' GET /v1/commodities lists them.'
        return group.fault(`codes.${i}`, `must be a known code.${meant}`) ?? []
      }
      if (taken.has(series.code))
        return group.fault(`codes.${i}`, `must not repeat ${series.code}.`) ?? []
      taken.add(series.code)
      return [series.code]
    })
  }),
})

const refusals = { 401: FailProblem }

/** Which codes a person wants on the board, with headings and order. */
export function boardLayoutOperations(deps: Context) {
  const { boardLayouts, catalogue, firstCodes, now } = deps
  const LayoutBody = body({
    groups: field<BoardGroup[]>(
      t.Array(GroupShape, {
        maxItems: groupsMax,
        description: `At most ${codesMax} codes in total, each of them once. Aliases are accepted and returned as their codes.`,
      }),
      form => readGroups(form, catalogue),
    ),
  })
  const row = (layout: BoardLayout | undefined) => ({
    status: 'success' as const,
    data: {
      groups: layout?.groups ?? [{ name: '', codes: [...firstCodes] }],
      is_own: layout !== undefined,
      updated_at: layout ? isoInstant(layout.updatedAt) : null,
    },
  })
  return [
    operation('GET /v1/prices/board/layout', {
      operationId: 'getBoardLayout',
      summary: 'Get the watchlist',
      description:
        "Returns the codes on the caller's watchlist, in groups. Each member of an organization has their own.",
      access: { meter: false },
      answers: { 200: LayoutAnswer, ...refusals },
      handle: ({ caller }) => row(boardLayouts.of(caller.key.holder.account.id)),
    }),
    operation('PUT /v1/prices/board/layout', {
      operationId: 'updateBoardLayout',
      summary: 'Replace the watchlist',
      description: 'Replaces the groups and order of the watchlist.',
      access: { meter: false, header: true },
      body: LayoutBody.schema,
      answers: { 200: LayoutAnswer, ...refusals },
      handle: ({ body: input, caller }) => {
        const { groups } = LayoutBody.read(input)
        const layout = { groups, updatedAt: now() }
        boardLayouts.put(caller.key.holder.account.id, layout)
        return row(layout)
      },
    }),
    operation('DELETE /v1/prices/board/layout', {
      operationId: 'resetBoardLayout',
      summary: 'Reset the watchlist',
      description: 'Resets the watchlist to the demo codes.',
      access: { meter: false, header: true },
      answers: { 200: LayoutAnswer, ...refusals },
      handle: ({ caller }) => {
        boardLayouts.remove(caller.key.holder.account.id)
        return row(undefined)
      },
    }),
  ]
}
