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

/** Scrolls a strip of tabs that is wider than the window, and not the page, to the current one. */
export function useTabStrip(current: string) {
  const strip = useRef<HTMLElement>(null)
  useEffect(() => {
    const all = strip.current?.getBoundingClientRect()
    const tab = strip.current?.querySelector('[aria-current]')?.getBoundingClientRect()
    if (all && tab)
      strip.current?.scrollBy(tab.left + tab.width / 2 - (all.left + all.width / 2), 0)
  }, [current])
  return strip
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
  const strip = useTabStrip(part)
  const View = views[part]
  return (
    <>
      <nav class="tabs paged" aria-label={words(page)} ref={strip}>
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
