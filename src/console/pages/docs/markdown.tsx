import { markdownWith } from '../../guides/markdown.ts'

/** An address of another kind than these could run a script. */
const markdown = markdownWith(href => (/^(https?:\/\/|\/|#)/.test(href) ? href : undefined))

export const Inline = ({ text }: { text: string }) => (
  <span dangerouslySetInnerHTML={{ __html: markdown.parseInline(text) as string }} />
)

export const Markdown = ({ text }: { text: string }) => (
  <div class="prose guide" dangerouslySetInnerHTML={{ __html: markdown.parse(text) as string }} />
)
