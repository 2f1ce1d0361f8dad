import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { type PageWithParts, pageParts, partName } from '../paths.ts'
import { words } from './text/format.ts'

/** What draws each part of a page. */
export type Views<P extends PageWithParts> = Readonly<
  Record<keyof (typeof pageParts)[P], ComponentType>
>

/** The heading of a page: the name of the part that the address names, of the first part its own. */
export function useTitle(page: PageWithParts): string {
  const { part = '' } = useRoute().params
  return (part !== '' && partName(page, part)) || words(page)
}

/** The tabs of a page, and the part that the address names. */
export function Tabs({
  page,
  views,
}: {
  page: PageWithParts
  views: Readonly<Record<string, ComponentType>>
}) {
  const { part = '' } = useRoute().params
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    const current = list.current?.querySelector('[aria-current]')
    current?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [part])
  const View = views[part]
  return (
    <>
      <nav class="tabs paged" aria-label={words(page)} ref={list}>
        {Object.keys(pageParts[page]).map(each => (
          <a
            key={each}
            href={each === '' ? `/${page}` : `/${page}/${each}`}
            aria-current={each === part ? 'page' : undefined}
          >
            {partName(page, each)}
          </a>
        ))}
      </nav>
      {View ? (
        <View />
      ) : (
        <p>
          {words(page)} has no section called <code>{part}</code>. Choose another one in the
          navigation.
        </p>
      )}
    </>
  )
}
