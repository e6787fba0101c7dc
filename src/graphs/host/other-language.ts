/** The thread belongs to graphs in Python: their library keeps values in another form, in the same tables. */
export class OtherLanguage extends Error {
  override readonly name = 'OtherLanguage';

  constructor() {
    super(
      "The thread's state was written by a graph in Python, which a graph in JavaScript can't read: use another thread",
    );
  }
}
