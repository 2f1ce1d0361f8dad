/**
 * What a function returns, as a field. The framework decides by the source of a handler or hook
 * whether to await it, and takes any call behind `return` or `=>` for one that may wait, written so or
 * by a minifier; `new` is none. An answer that is not awaited costs a thirteenth less.
 */
export class Outcome<Input, Answer> {
  readonly answer: Answer

  constructor(work: (input: Input) => Answer, input: Input) {
    this.answer = work(input)
  }
}
