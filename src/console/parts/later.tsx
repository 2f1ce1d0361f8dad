import type { ComponentType } from 'preact'
import { lazy } from 'preact-iso'
import { Button, Notice } from './bits.tsx'

/** Shown for a script that cannot be loaded: the server has stopped, or another version of it runs. */
export const NotLoaded = () => (
  <Notice mood="bad">
    <div class="row spread">
      <span>The server did not respond, or it was updated.</span>
      <Button className="tight" label="Reload" onClick={() => location.reload()} />
    </div>
  </Notice>
)

/** A component whose script is loaded when it is first drawn. */
export const later = <P,>(
  load: () => Promise<ComponentType<P>>,
  Failed: ComponentType = NotLoaded,
): ComponentType<P> => lazy(() => load().catch((): ComponentType<P> => Failed as ComponentType<P>))
