import { useSignal } from '@preact/signals'
import type { ComponentChildren, ComponentType, JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { lazy } from 'preact-iso'
import { Notice } from './bits.tsx'
import { Button } from './buttons.tsx'

/** Says what failed, with a button that loads the page again. */
export const ReloadNotice = ({ children }: { children: ComponentChildren }) => (
  <Notice mood="bad">
    <div class="row spread">
      <span>{children}</span>
      <Button className="tight" label="Reload" onClick={() => location.reload()} />
    </div>
  </Notice>
)

/** Shown for a script that cannot be loaded: the server has stopped, or another version of it runs. */
export const NotLoaded = () => (
  <ReloadNotice>The server did not respond, or it was updated.</ReloadNotice>
)

/** A component whose script is loaded when it is first drawn. */
export const later = <P,>(
  load: () => Promise<ComponentType<P>>,
  Failed: ComponentType = NotLoaded,
): ComponentType<P> => lazy(() => load().catch((): ComponentType<P> => Failed as ComponentType<P>))

/** A component below the first view: its script is loaded once that is drawn. */
export const below = <P extends object>(load: () => Promise<ComponentType<P>>) =>
  function Below(props: P): JSX.Element {
    const drawn = useSignal<{ As: ComponentType<P> } | undefined>(undefined)
    useEffect(() => {
      load()
        .catch((): ComponentType<P> => NotLoaded as ComponentType<P>)
        .then(As => {
          drawn.value = { As }
        })
    }, [])
    const As = drawn.value?.As
    return As ? <As {...props} /> : <div class="below" />
  }
