// A Postgres with pgvector, compiled to WebAssembly, asked by messages: it can't be loaded within jest.
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';

const db = await PGlite.create({ extensions: { vector } });

process.on('message', async ({ id, text, values }) => {
  try {
    // Several statements at once, as set-ups write them, can't have parameters.
    const { rows, affectedRows } = values
      ? await db.query(text, values)
      : { rows: [], ...(await db.exec(text)).at(-1) };
    process.send({ id, rows, affectedRows });
  } catch (error) {
    process.send({ id, error: String(error) });
  }
});
process.on('disconnect', () => process.exit(0));
process.send({ id: 0 });
