import type { Signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { Guide } from '../../guides/guide.ts'
import { Input } from '../../parts/fields.tsx'
import { calls, type NamedCall } from '../../parts/frame/calls.ts'
import { best, match } from '../../parts/requests/codes.ts'
import { matchingPlaces } from '../../parts/requests/guides.ts'
import { bound } from '../../parts/text/form.ts'
import { words } from '../../parts/text/format.ts'
import { type Listed, listedOf, type OpenApi } from './document.ts'
import { OwnKey } from './own-key.tsx'

/** A call as the list shows it, before its details are loaded. */
const listedCall = ({ id, method, path, tag = 'other', summary }: NamedCall): Listed => ({
  id,
  method,
  path,
  tag,
  operation: { operationId: id, summary, responses: {} },
})

/** A wide window has room for the list next to the text; above the text it would be in the way. */
const isWide = matchMedia('(min-width: 60rem)').matches

const matchesMax = 60
const placesMax = 6

/** The operations that match a typed text, best first; all of them without one. */
function matchingOperations(operations: readonly Listed[], typed: string): readonly Listed[] {
  if (typed.trim() === '') return operations
  const scoreOf = ({ path, id, operation }: Listed) => {
    const { summary, description = '', parameters = [] } = operation
    const head = `${summary} ${path} ${id}`
    const rest = `${description} ${parameters.map(parameter => `${parameter.name} ${parameter.description ?? ''}`).join(' ')}`
    return match(head, typed) * 10 || match(`${head} ${rest}`, typed)
  }
  return best(operations, scoreOf, matchesMax)
}

export function Sidebar({
  document,
  guides,
  guide,
  typed,
}: {
  document: OpenApi | undefined
  guides: readonly Guide[]
  guide: string | undefined
  typed: Signal<string>
}) {
  const { query } = useLocation()
  const operations = useMemo(
    () => (document ? listedOf(document) : calls.value.map(listedCall)),
    [document, calls.value],
  )
  const isSearching = typed.value.trim() !== ''
  const shown = useMemo(
    () => matchingOperations(operations, typed.value),
    [operations, typed.value],
  )
  const places = isSearching ? matchingPlaces(typed.value, placesMax) : []
  const groups = [...Map.groupBy(shown, ({ tag }) => tag)]
  const listed = guides.filter(({ section }) => section !== '')
  const sections = [...Map.groupBy(listed, ({ section }) => section)]
  const lists = (
    <>
      {isSearching
        ? places.length > 0 && (
            <ul aria-label="Pages">
              {places.map(({ href, title, heading }) => (
                <li key={href}>
                  <a href={href}>
                    {title}
                    {heading && <span class="quiet"> · {heading}</span>}
                  </a>
                </li>
              ))}
            </ul>
          )
        : sections.map(([section, pages]) => (
            <Group
              key={section}
              title={section}
              links={pages.map(({ name, title }) => ({
                href: `/docs/${name}`,
                text: title,
                isCurrent: name === guide,
              }))}
              isOpen={
                guide === undefined && query.operation === undefined && section === sections[0]![0]
              }
            />
          ))}
      {operations.length === 0 && !isSearching && <a href="/docs">API reference</a>}
      {groups.map(([tag, part]) => (
        <Group
          key={tag}
          title={words(tag)}
          links={part.map(({ id, method, operation }) => ({
            href: `/docs?operation=${encodeURIComponent(id)}`,
            text: operation.summary,
            isCurrent: id === query.operation,
            ...(method !== 'GET' && { method }),
          }))}
          isSearched={isSearching}
        />
      ))}
    </>
  )
  return (
    <nav class="stack" aria-label="Documentation">
      <Input
        label="Search the documentation"
        type="search"
        placeholder="RSI, rig count, as_of …"
        {...bound(typed)}
      />
      {!isSearching && <OwnKey label="Your API key, for the samples" />}
      {isSearching && document && shown.length + places.length === 0 && (
        <p class="quiet" role="status">
          No results.
        </p>
      )}
      {isWide || isSearching ? (
        lists
      ) : (
        <details>
          <summary>
            <strong>Contents</strong>
          </summary>
          {lists}
        </details>
      )}
    </nav>
  )
}

interface GroupProps {
  title: string
  links: { href: string; text: string; isCurrent: boolean; method?: string }[]
  /** Open where the window is wide; with a link to the page itself it always is. */
  isOpen?: boolean
  /** Its links are what a search has found. */
  isSearched?: boolean
}

/** Some links under a heading that is folded. */
const Group = ({ title, links, isOpen, isSearched }: GroupProps) => (
  <details open={isSearched || (isWide && (isOpen || links.some(({ isCurrent }) => isCurrent)))}>
    <summary>
      <strong>{title}</strong> <span class="quiet small">{links.length}</span>
    </summary>
    <ul>
      {links.map(({ href, text, isCurrent, method }) => (
        <li key={href}>
          <a href={href} aria-current={isCurrent ? 'page' : undefined}>
            {method && <span class="code">{method} </span>}
            {text}
          </a>
        </li>
      ))}
    </ul>
  </details>
)
